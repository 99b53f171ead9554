/** SQL tables of runs, logs, leases, mailboxes and files, and the function that adds to a log. */
export const RUNS = `
CREATE TABLE $S.run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  repository text NOT NULL,
  name text NOT NULL,
  record text NOT NULL,
  key uuid NOT NULL,                   -- another for each run that had this name
  created_at float8 NOT NULL,
  newest int NOT NULL DEFAULT 0,       -- the number of the newest event
  fence int NOT NULL DEFAULT 0,        -- one more for each coordinator
  holder uuid,                         -- of the lease; NULL: it was given back
  owner text,                          -- who that is, as JSON
  lease_until timestamptz,
  stop text,                           -- 'gently' or 'now': its coordinator is asked to stop
  UNIQUE (repository, name)
);

CREATE TABLE $S.event (
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  seq int NOT NULL,
  version int NOT NULL,
  body text NOT NULL,                  -- JSON; jsonb would refuse a zero character
  PRIMARY KEY (run, seq)
);

CREATE TABLE $S.letter (
  id uuid PRIMARY KEY,
  place bigint GENERATED ALWAYS AS IDENTITY,
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  command text NOT NULL,
  taker uuid,                          -- NULL: it waits
  answer text
);
CREATE INDEX letter_waiting ON $S.letter (run, place) WHERE taker IS NULL;

CREATE TABLE $S.file (
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  path text NOT NULL CHECK (octet_length(path) <= 512),
  chunk int NOT NULL,
  body bytea NOT NULL CHECK (octet_length(body) <= 262144),
  written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run, path, chunk)
);
`;

export const RUN_FUNCTIONS = `
-- 'done', 'taken', or 'gone'. again: an earlier try may have been committed although its answer was lost. The lock is
-- one that rows which refer to the run do not wait for, nor it for them: workers write such rows.
CREATE FUNCTION $S.append(_run bigint, _fence int, _after int, _version int, _bodies text[], _again boolean)
RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _count int := cardinality(_bodies);
  _newest int;
  _current int;
BEGIN
  SELECT newest, fence INTO _newest, _current FROM $S.run WHERE id = _run FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN 'gone'; END IF;
  IF _current <> _fence THEN RETURN 'taken'; END IF;
  IF _again AND _count > 0 AND _newest = _after + _count AND _bodies =
     (SELECT array_agg(body ORDER BY seq) FROM $S.event WHERE run = _run AND seq > _after)
  THEN RETURN 'done'; END IF;
  IF _newest <> _after THEN RETURN 'taken'; END IF;
  INSERT INTO $S.event (run, seq, version, body)
    SELECT _run, _after + place, _version, body FROM unnest(_bodies) WITH ORDINALITY AS one (body, place);
  UPDATE $S.run SET newest = _after + _count WHERE id = _run;
  PERFORM pg_notify('$N:log:' || _run, '');
  RETURN 'done';
END $$;
`;
