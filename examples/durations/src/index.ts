export { format } from './format.js';
export { units } from './units.js';
export type { Unit } from './units.js';
