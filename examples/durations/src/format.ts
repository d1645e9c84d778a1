import { units } from './units.js';

/**
 * Writes a number of seconds as people do: `5400` is `1h 30m`.
 * Throws a RangeError for anything but a whole number of seconds, zero or more.
 */
export function format(seconds: number): string {
  if (!Number.isSafeInteger(seconds) || seconds < 0) {
    throw new RangeError(`not a whole number of seconds: ${seconds}`);
  }
  const parts: string[] = [];
  let rest = seconds;
  for (const unit of units) {
    const count = Math.floor(rest / unit.seconds);
    if (count > 0) parts.push(`${count}${unit.symbol}`);
    rest -= count * unit.seconds;
  }
  return parts.length > 0 ? parts.join(' ') : '0s';
}
