// SPDX-License-Identifier: Apache-2.0
// A reporter of node's test runner that passes every event to run_node_file.mjs. It accepts one receiver and one start, both before project code is loaded.
let sink = null;
let started = false;

export function connect(receiver) {
  if (sink !== null) throw new Error('agentforge: the reporter is connected');
  sink = receiver;
}

export default async function* report(events) {
  if (started) sink({ type: 'agentforge:second-reporter' });
  started = true;
  for await (const event of events) sink(event);
}
