import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { format } from '../src/index.js';

describe('format', () => {
  it('writes the units that are needed, longest first', () => {
    assert.equal(format(5_400), '1h 30m');
    assert.equal(format(90_061), '1d 1h 1m 1s');
  });

  it('writes no time as seconds', () => {
    assert.equal(format(0), '0s');
  });

  it('refuses what is no whole number of seconds', () => {
    assert.throws(() => format(1.5), RangeError);
    assert.throws(() => format(-1), RangeError);
  });
});
