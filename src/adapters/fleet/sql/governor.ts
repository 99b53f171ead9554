/** SQL tables of accounts, budgets and reservations as fleets were first made; sql/machines.ts changes them. */
export const GOVERNOR = `
-- An account without a row is free, and so is one whose time is over.
CREATE TABLE $S.account (
  name text PRIMARY KEY,
  state text NOT NULL,                 -- 'parked', 'refused', or 'woken': it has not answered since
  until timestamptz,                   -- of 'parked'
  failure text NOT NULL,               -- why, as JSON
  decided_by bigint,                   -- the run whose log says until when; NULL: none does yet
  woken_after bigint                   -- of 'woken': the last reservation before
);

-- A run whose coordinator follows what its jobs spend.
CREATE TABLE $S.governed (
  run bigint PRIMARY KEY REFERENCES $S.run ON DELETE CASCADE,
  accounts text[] NOT NULL,
  reserve_tokens bigint NOT NULL,      -- for a job that has called no model yet
  reserve_microdollars bigint NOT NULL
);

CREATE TABLE $S.budget (
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  name text NOT NULL,
  max_tokens bigint,
  max_microdollars bigint,
  spent_tokens bigint NOT NULL,        -- what the log knows
  spent_microdollars bigint NOT NULL,
  failure text NOT NULL,               -- what is said when it is spent, as JSON
  PRIMARY KEY (run, name)
);

-- What a call that is under way may cost at most. It is in the job's sums, too.
CREATE TABLE $S.reservation (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  asked uuid NOT NULL UNIQUE,
  run bigint NOT NULL,
  job text NOT NULL,
  account text NOT NULL,
  tokens bigint NOT NULL,
  microdollars bigint,
  FOREIGN KEY (run, job) REFERENCES $S.job ON DELETE CASCADE
);
CREATE INDEX reservation_of_job ON $S.reservation (run, job);
`;
