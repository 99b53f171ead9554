/** The tables of workers, of the jobs that they may do, and of what they report; and the functions that they may call. */
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

-- Heartbeat of a worker and of the jobs that it has. Says which of these are still its own. It waits for no lock on the
-- worker's row: a machine that uses the same name must not be able to keep it from its jobs.
CREATE FUNCTION $S.worker_seen(_name text, _labels text[], _capacity int, _version text, _state text, _permits uuid[])
RETURNS SETOF uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _before text;
BEGIN
  _labels := array_remove(_labels[1:32], NULL);
  SELECT state INTO _before FROM $S.worker WHERE name = _name;
  IF FOUND THEN
    UPDATE $S.worker SET labels = _labels, capacity = least(_capacity, 1000), version = left(_version, 40),
      state = _state, seen_at = now()
    WHERE name = (SELECT name FROM $S.worker WHERE name = _name FOR UPDATE SKIP LOCKED);
  ELSE
    DELETE FROM $S.worker WHERE seen_at < now() - interval '30 days';
    INSERT INTO $S.worker (name, labels, capacity, version, state)
      VALUES (_name, _labels, least(_capacity, 1000), left(_version, 40), _state) ON CONFLICT (name) DO NOTHING;
  END IF;
  IF _before IS DISTINCT FROM _state THEN PERFORM pg_notify('$N:workers', ''); END IF;
  RETURN QUERY UPDATE $J.job b SET heartbeat_on = $J.job_now() FROM $S.job j
    WHERE j.permit = ANY (_permits) AND b.name = j.queue AND b.id = j.boss AND b.state = 'active' RETURNING j.permit;
END $$;

-- Gives a job that waits to a worker: of a queue whose labels it has, those with most labels first. The worker chooses
-- its permit, so that asking again after a lost answer gives the same job. This and the next do what fetch and complete
-- of pg-boss do, so that workers need no right to its tables.
CREATE FUNCTION $S.worker_take(_permit uuid, _worker text, _labels text[], _min_priority int,
  OUT offer text, OUT tries int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _queue text;
  _boss uuid;
BEGIN
  SELECT j.offer, j.boss, j.queue INTO offer, _boss, _queue FROM $S.job j WHERE j.permit = _permit;
  IF FOUND THEN
    SELECT b.retry_count INTO tries FROM $J.job b WHERE b.name = _queue AND b.id = _boss;
    RETURN;
  END IF;
  FOR _queue IN
    SELECT q.name FROM $J.queue q, string_to_array(q.name, '/') AS parts
    WHERE parts[1] = 'jobs' AND parts[2:] <@ _labels ORDER BY cardinality(parts) DESC
  LOOP
    LOOP
      UPDATE $J.job b SET state = 'active', started_on = $J.job_now(), heartbeat_on = $J.job_now(),
        retry_count = b.retry_count + (b.started_on IS NOT NULL)::int
        WHERE b.name = _queue AND b.id = (
          SELECT w.id FROM $J.job w
          WHERE w.name = _queue AND w.state < 'active' AND NOT w.blocked AND w.start_after <= $J.job_now()
            AND w.priority >= _min_priority
          ORDER BY w.priority DESC, w.created_on LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING b.id, b.retry_count INTO _boss, tries;
      EXIT WHEN NOT FOUND;
      IF tries > 0 THEN PERFORM $S.lose_try(_boss); END IF;
      UPDATE $S.job j SET permit = _permit, worker = left(_worker, 200) WHERE j.boss = _boss RETURNING j.offer INTO offer;
      IF FOUND THEN RETURN; END IF;
      -- The coordinator has deleted the row of this job: the log has its end.
      UPDATE $J.job b SET state = 'cancelled', completed_on = $J.job_now() WHERE b.name = _queue AND b.id = _boss;
    END LOOP;
  END LOOP;
END $$;

-- Whether the answer counts: not if the job was cancelled, or another machine has it. Asked again, it says the same.
CREATE FUNCTION $S.worker_answer(_permit uuid, _output jsonb)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE $J.job b SET state = 'completed', completed_on = $J.job_now(), output = _output FROM $S.job j
    WHERE j.permit = _permit AND b.name = j.queue AND b.id = j.boss AND b.state = 'active';
  RETURN FOUND OR EXISTS (
    SELECT FROM $S.job j JOIN $J.job b ON b.name = j.queue AND b.id = j.boss
    WHERE j.permit = _permit AND b.state = 'completed');
END $$;

-- The coordinator hears of the end of a job with the transaction that ends it: no statement more for each.
CREATE FUNCTION $S.job_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('$N:jobs:' || (NEW.data->>'runId'), '');
  RETURN NULL;
END $$;

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
