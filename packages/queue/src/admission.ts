/**
 * Whether a run that is in hand may be made: `go`; it lies `in-lot`; it is `lost` to another worker; or
 * `drained`, as the worker stops while Redis takes no writes.
 */
export type Admission = 'go' | 'in-lot' | 'lost' | 'drained'
