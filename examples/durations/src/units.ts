/** A unit of time and how many seconds it has. */
export interface Unit {
  readonly symbol: string;
  readonly seconds: number;
}

/** All units, longest first. */
export const units: readonly Unit[] = [
  { symbol: 'd', seconds: 86_400 },
  { symbol: 'h', seconds: 3_600 },
  { symbol: 'm', seconds: 60 },
  { symbol: 's', seconds: 1 },
];
