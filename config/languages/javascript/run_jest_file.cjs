// SPDX-License-Identifier: Apache-2.0
// Jest's `testRunner`: the project's jest-circus, with the canary registered in each test file.
const circus = require(process.env.AGENTFORGE_CIRCUS);

module.exports = (globalConfig, config, environment, runtime, testPath, ...rest) => (circus.default ?? circus)(
  globalConfig,
  { ...config, setupFilesAfterEnv: [...(config.setupFilesAfterEnv ?? []), process.env.AGENTFORGE_CANARY] },
  environment, runtime, testPath, ...rest);
