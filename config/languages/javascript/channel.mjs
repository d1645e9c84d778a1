// SPDX-License-Identifier: Apache-2.0
// The messages of a process with project code to its parent process: one JSON object a line on descriptor 3, each with a secret
// from standard input. Only a closure contains the secret, and a line is built from primitive values, so no method that project
// code may have replaced (such as toJSON) can see or change it.
import { readFileSync, writeSync } from 'node:fs';

const { stringify } = JSON;
const { keys } = Object;
const exit = process.reallyExit ?? process.exit;
let taken = false;

/** Reads the request and returns it with `tell` and `leave`. Works once: project code that imports this file gets nothing. */
export function open() {
  if (taken) throw new Error('agentforge: the channel is taken');
  taken = true;
  const request = JSON.parse(readFileSync(0, 'utf8'));
  const { secret } = request;
  delete request.secret;
  let number = 0;
  /** Writes one line. `fields`: an object of strings, numbers and booleans. */
  const tell = (fields) => {
    let line = `{"n":"${secret}","i":${number}`;
    const names = keys(fields);
    for (let at = 0; at < names.length; ++at) {
      const value = fields[names[at]];
      line += `,${stringify(names[at])}:${typeof value === 'object' ? '""' : stringify(value) ?? '""'}`;
    }
    number += 1;
    line += '}\n';
    for (;;) {
      try {
        writeSync(3, line);
        return;
      } catch (error) {
        if (error?.code !== 'EAGAIN') throw error;
      }
    }
  };
  return { request, tell, leave: (code) => exit.call(process, code) };
}
