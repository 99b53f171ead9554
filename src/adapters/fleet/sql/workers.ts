/** The tables of workers, of the jobs that they may do, and of what they report; and the functions that they may call. */
export const WORKERS = `
CREATE TABLE $S.worker (
  name text PRIMARY KEY CHECK (octet_length(name) <= 200),
  labels text[] NOT NULL,
  capacity int NOT NULL,
  version text NOT NULL,
  jobs text[] NOT NULL,                -- what it is doing: run/job
  state text NOT NULL,                 -- 'ready', 'draining' or 'gone'
  since timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now()
);

-- Heartbeat of a worker.
CREATE FUNCTION $S.worker_seen(_name text, _labels text[], _capacity int, _version text, _jobs text[], _state text)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO $S.worker (name, labels, capacity, version, jobs, state)
  VALUES (_name, _labels[1:32], least(_capacity, 1000), left(_version, 40), _jobs[1:1000], left(_state, 20))
  ON CONFLICT (name) DO UPDATE SET labels = excluded.labels, capacity = excluded.capacity,
    version = excluded.version, jobs = excluded.jobs, state = excluded.state, seen_at = now(),
    since = CASE WHEN $S.worker.state = 'gone' THEN now() ELSE $S.worker.since END
$$;

-- A job that was offered. The holder of its permit may call models for it, write its files and report of it.
CREATE TABLE $S.job (
  run bigint NOT NULL REFERENCES $S.run ON DELETE CASCADE,
  job text NOT NULL,
  permit uuid NOT NULL UNIQUE,
  counts_in text[] NOT NULL DEFAULT '{}',   -- the budgets that what it uses is part of
  limited_by text[] NOT NULL DEFAULT '{}',  -- the budgets that its calls must fit
  is_live boolean NOT NULL DEFAULT false,   -- it has called a model
  used_tokens bigint NOT NULL DEFAULT 0,
  used_microdollars bigint NOT NULL DEFAULT 0,
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

-- The job of a permit.
CREATE FUNCTION $S.permitted(_permit uuid, OUT run bigint, OUT job text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  SELECT one.run, one.job INTO run, job FROM $S.job one WHERE one.permit = _permit;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no such permit, or its job is over' USING ERRCODE = 'SK001';
  END IF;
END $$;

-- What a worker tells its coordinator. At most 1,000 wait: what comes then is dropped.
CREATE FUNCTION $S.worker_report(_permit uuid, _body text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
BEGIN
  IF (SELECT count(*) FROM $S.report WHERE run = _of.run) >= 1000 THEN RETURN; END IF;
  INSERT INTO $S.report (run, job, body) VALUES (_of.run, _of.job, _body);
  PERFORM pg_notify('$N:report:' || _of.run, '');
END $$;

-- A piece of a file of the permit's run. Chunk 0 begins the file anew. False: the file is as large as it may be.
CREATE FUNCTION $S.worker_write(_permit uuid, _path text, _chunk int, _body bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
BEGIN
  IF _chunk < 0 OR _chunk >= 256 OR _path !~ '^(transcripts|turns|gates|artefacts|scratchpad|conversations)/' THEN
    RETURN false;
  END IF;
  IF _chunk = 0 THEN DELETE FROM $S.file WHERE run = _of.run AND path = _path; END IF;
  INSERT INTO $S.file (run, path, chunk, body) VALUES (_of.run, _path, _chunk, _body)
    ON CONFLICT (run, path, chunk) DO UPDATE SET body = excluded.body, written_at = now();
  PERFORM pg_notify('$N:file:' || _of.run, '');
  RETURN true;
END $$;

-- What the coordinator has put there for workers, and files of the permit's run.
CREATE FUNCTION $S.worker_read(_permit uuid, _path text)
RETURNS SETOF bytea LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
BEGIN
  RETURN QUERY SELECT body FROM $S.file WHERE run = _of.run AND path = _path ORDER BY chunk;
END $$;
`;
