/** SQL tables of workers, their jobs and their reports as fleets were first made; sql/machines.ts changes them. */
export const WORKERS = `
CREATE TABLE $S.worker (
  name text PRIMARY KEY CHECK (octet_length(name) <= 200),
  labels text[] NOT NULL,
  capacity int NOT NULL,
  version text NOT NULL,
  state text NOT NULL CHECK (state IN ('ready', 'draining', 'gone')),
  seen_at timestamptz NOT NULL DEFAULT now()
);

-- A job that was offered, or a coordinator's own.
CREATE TABLE $S.job (
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  job text NOT NULL,
  queue text,                               -- where pg-boss has it, with this id; NULL: it is a coordinator's own
  boss uuid UNIQUE,
  offer text,                               -- what the machine that takes it is told, as JSON
  permit uuid UNIQUE,                       -- its holder may call models, report and write files; each try has another
  worker text,                              -- the machine that took it last
  counts_in text[] NOT NULL DEFAULT '{}',   -- the budgets that what it uses is part of
  limited_by text[] NOT NULL DEFAULT '{}',  -- the budgets that its calls must fit
  is_live boolean NOT NULL DEFAULT false,   -- it has called a model
  used_tokens bigint NOT NULL DEFAULT 0,
  used_microdollars bigint NOT NULL DEFAULT 0,
  lost_tokens bigint NOT NULL DEFAULT 0,    -- of these: used by machines that lost the job
  lost_microdollars bigint NOT NULL DEFAULT 0,
  cut_calls int NOT NULL DEFAULT 0,         -- of these: their calls that did not say what they cost
  cut_tokens bigint NOT NULL DEFAULT 0,
  cut_microdollars bigint NOT NULL DEFAULT 0,
  waited_ms float8 NOT NULL DEFAULT 0,
  waiting_since timestamptz,
  PRIMARY KEY (run, job)
);

CREATE TABLE $S.report (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  job text,
  body text NOT NULL CHECK (octet_length(body) <= 65536)
);
CREATE INDEX report_of_run ON $S.report (run, id);
`;
