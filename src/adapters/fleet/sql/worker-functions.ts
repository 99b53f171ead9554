/** SQL functions that workers call: they join, take jobs, answer them, report, and read and write files. */

/**
 * A condition inside other statements, because a statement of its own would slow down every heartbeat and every
 * job taken.
 */
const IS_INVITED = `NOT EXISTS (
      SELECT FROM $S.machine m WHERE m.role = session_user AND (m.revoked_at IS NOT NULL OR m.expires_at <= now()))`;

const STILL_INVITED = `IF NOT (${IS_INVITED}) THEN
    RAISE EXCEPTION 'the invitation of this machine is over' USING ERRCODE = 'SK002';
  END IF;`;

export const WORKER_FUNCTIONS = `
-- The name that the role of this session was invited under; NULL: the role is shared. SK002: it is shut out.
CREATE FUNCTION $S.machine_name() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  ${STILL_INVITED}
  RETURN (SELECT m.name FROM $S.machine m WHERE m.role = session_user);
END $$;

-- 'joined', or why not: 'taken' by a worker that lives, 'invited' for a machine with a role of its own, 'named' if this
-- machine was invited under another name, 'wait' if too many joined within this minute, 'full'. The worker chooses its
-- token: with the same one it may join again at once, as after a crash.
CREATE FUNCTION $S.worker_join(_name text, _token uuid, _labels text[], _capacity int, _version text)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _invited text := $S.machine_name();
  _before record;
  _count int;
BEGIN
  IF _name IS NULL OR _token IS NULL OR _name !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$' THEN RETURN 'named'; END IF;
  IF _invited <> _name THEN RETURN 'named'; END IF;
  IF _invited IS NULL AND EXISTS (
    SELECT FROM $S.machine m WHERE m.name = _name AND m.revoked_at IS NULL AND m.expires_at > now()
  ) THEN RETURN 'invited'; END IF;
  -- Looked at without a lock first: one that may not have the name must not hold its row.
  SELECT w.token, w.role, w.state, w.seen_at INTO _before FROM $S.worker w WHERE w.name = _name;
  IF FOUND AND _before.state <> 'gone' AND _before.seen_at > now() - interval '10 s'
    AND (_before.token IS DISTINCT FROM _token OR _before.role <> session_user) THEN RETURN 'taken'; END IF;
  INSERT INTO $S.joins AS j (role, minute, count) VALUES (session_user, date_trunc('minute', now()), 1)
    ON CONFLICT (role) DO UPDATE SET minute = excluded.minute,
      count = CASE WHEN j.minute = excluded.minute THEN j.count + 1 ELSE 1 END
    RETURNING count INTO _count;
  IF _count > (CASE WHEN _invited IS NULL THEN 300 ELSE 20 END) THEN RETURN 'wait'; END IF;
  DELETE FROM $S.worker WHERE seen_at < now() - interval '30 days';
  IF _invited IS NULL AND (
    SELECT count(*) FROM $S.worker WHERE role = session_user AND state <> 'gone' AND seen_at > now() - interval '1 day'
  ) >= 5000 THEN RETURN 'full'; END IF;
  INSERT INTO $S.worker AS w (name, token, role, labels, capacity, version, state)
    VALUES (_name, _token, session_user, ARRAY(
        SELECT one FROM unnest(_labels) AS one WHERE one ~ '^[a-z0-9][a-z0-9._-]{0,31}$' LIMIT 32),
      greatest(0, least(_capacity, 1000)), left(_version, 40), 'ready')
    ON CONFLICT (name) DO UPDATE SET token = excluded.token, role = excluded.role, labels = excluded.labels,
      capacity = excluded.capacity, version = excluded.version, state = excluded.state, seen_at = now()
    -- Another may have joined since it was looked at.
    WHERE w.state = 'gone' OR w.seen_at <= now() - interval '10 s'
      OR (w.token IS NOT DISTINCT FROM excluded.token AND w.role = excluded.role);
  IF NOT FOUND THEN RETURN 'taken'; END IF;
  PERFORM pg_notify('$N:workers', '');
  RETURN 'joined';
END $$;

-- A sign of life of a worker, and of the jobs whose permits it has. Says which of these it still has, and its token if it
-- still has its name. A worker is ready, then draining, then gone, and not back before it joins again. It waits for no lock
-- on the worker's row, and is heard twice a second at most.
CREATE FUNCTION $S.worker_seen(_token uuid, _state text, _permits uuid[])
RETURNS SETOF uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _before record;
BEGIN
  SELECT w.name, w.state, w.seen_at INTO _before FROM $S.worker w
    WHERE w.token = _token AND w.role = session_user AND w.state <> 'gone' AND ${IS_INVITED};
  IF FOUND THEN
    RETURN NEXT _token;
    IF _state NOT IN ('draining', 'gone') OR _state IS NULL THEN _state := _before.state; END IF;
    IF _state = _before.state AND _before.seen_at > now() - interval '500 ms' THEN
      RETURN QUERY SELECT j.permit FROM $S.job j JOIN $J.job b ON b.name = j.queue AND b.id = j.boss
        WHERE j.permit = ANY (_permits) AND b.state = 'active';
      RETURN;
    END IF;
    UPDATE $S.worker SET state = _state, seen_at = now()
      WHERE name = (SELECT name FROM $S.worker WHERE name = _before.name AND token = _token FOR UPDATE SKIP LOCKED);
    IF _before.state <> _state THEN PERFORM pg_notify('$N:workers', ''); END IF;
  ELSE
    ${STILL_INVITED}
  END IF;
  RETURN QUERY UPDATE $J.job b SET heartbeat_on = $J.job_now() FROM $S.job j
    WHERE j.permit = ANY (_permits) AND b.name = j.queue AND b.id = j.boss AND b.state = 'active' RETURNING j.permit;
END $$;

-- Gives a job that waits to a worker that has joined: of a queue whose labels it has, those with most labels first. The
-- worker chooses its permit, so that asking again after a lost answer gives the same job. This and the next do what fetch
-- and complete of pg-boss do, so that workers need no right to its tables.
CREATE FUNCTION $S.worker_take(_permit uuid, _token uuid, _min_priority int, OUT offer text, OUT tries int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _queue text;
  _boss uuid;
  _worker record;
BEGIN
  SELECT w.name, w.labels INTO _worker FROM $S.worker w
    WHERE w.token = _token AND w.role = session_user AND w.state <> 'gone' AND _permit IS NOT NULL AND ${IS_INVITED};
  IF NOT FOUND THEN RETURN; END IF;
  SELECT j.offer, j.boss, j.queue INTO offer, _boss, _queue FROM $S.job j WHERE j.permit = _permit;
  IF FOUND THEN
    SELECT b.retry_count INTO tries FROM $J.job b WHERE b.name = _queue AND b.id = _boss;
    RETURN;
  END IF;
  FOR _queue IN
    SELECT q.name FROM $J.queue q, string_to_array(q.name, '/') AS parts
    WHERE parts[1] = 'jobs' AND parts[2:] <@ _worker.labels ORDER BY cardinality(parts) DESC
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
      UPDATE $S.job j SET permit = _permit, worker = _worker.name, taken_at = now(), reports = 0 WHERE j.boss = _boss
        RETURNING j.offer INTO offer;
      IF FOUND THEN RETURN; END IF;
      -- The coordinator has deleted the row of this job: the log has its end.
      UPDATE $J.job b SET state = 'cancelled', completed_on = $J.job_now() WHERE b.name = _queue AND b.id = _boss;
    END LOOP;
  END LOOP;
END $$;

-- Whether the answer counts: not if the job was cancelled, or another machine has it. Asked again, it says the same. Only
-- its result is kept, and not one that is longer than a coordinator reads.
CREATE FUNCTION $S.worker_answer(_permit uuid, _output jsonb)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  _output := CASE WHEN pg_column_size(_output) <= 67108864 AND length(_output->>'result') <= 16000000
    THEN jsonb_build_object('result', _output->>'result') END;
  UPDATE $J.job b SET state = 'completed', completed_on = $J.job_now(), output = _output FROM $S.job j
    WHERE j.permit = _permit AND b.name = j.queue AND b.id = j.boss AND b.state = 'active' AND ${IS_INVITED};
  RETURN FOUND OR EXISTS (
    SELECT FROM $S.job j JOIN $J.job b ON b.name = j.queue AND b.id = j.boss
    WHERE j.permit = _permit AND b.state = 'completed');
END $$;

-- The coordinator hears of the end of a job with the transaction that ends it: no statement more for each. Tables of the
-- queue have a trigger with it, so it is the one function that is replaced and not made anew.
CREATE OR REPLACE FUNCTION $S.job_ended() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('$N:jobs:' || (NEW.data->>'runId'), '');
  RETURN NULL;
END $$;

-- The job of a permit. own: it is the coordinator's, which knows its permit alone.
CREATE FUNCTION $S.permitted(_permit uuid, OUT run bigint, OUT job text, OUT is_own boolean, OUT worker text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  ${STILL_INVITED}
  SELECT one.run, one.job, one.queue IS NULL, one.worker INTO run, job, is_own, worker
    FROM $S.job one WHERE one.permit = _permit;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no such permit, or its job is over' USING ERRCODE = 'SK001';
  END IF;
END $$;

-- Whether a job may say one thing more to its coordinator: 60 at first, and 10 more with each minute.
CREATE FUNCTION $S.may_report(_permit uuid)
RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE $S.job j SET reports = j.reports + 1 WHERE j.permit = _permit AND (j.queue IS NULL OR j.reports < 60
    + 10 * extract(epoch FROM now() - coalesce(j.taken_at, now() - interval '1 day')) / 60);
  RETURN FOUND;
END $$;

-- What a worker tells its coordinator. What is too much for its job is dropped, as is what comes while 20 wait.
CREATE FUNCTION $S.worker_report(_permit uuid, _body text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
BEGIN
  IF (SELECT count(*) FROM $S.report r WHERE r.run = _of.run AND r.job = _of.job) >= 20 THEN RETURN; END IF;
  IF NOT $S.may_report(_permit) THEN RETURN; END IF;
  INSERT INTO $S.report (run, job, body) VALUES (_of.run, _of.job, _body);
  PERFORM pg_notify('$N:report:' || _of.run, '');
END $$;

-- A piece of a file of the permit's job. Chunk 0 begins the file anew. False: it is not the job's, as large as it may be,
-- or the job has 4,096 pieces for each try. Results are named by their content: what another job wrote is there already.
CREATE FUNCTION $S.worker_write(_permit uuid, _path text, _chunk int, _body bytea)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
  _may record;
BEGIN
  -- One piece of a job after the other, so that they can be counted.
  SELECT coalesce(j.files, '^(transcripts|turns|gates|artefacts|scratchpad|conversations)/') AS files,
    4096 * (1 + coalesce(b.retry_count, 0)) AS pieces INTO _may
    FROM $S.job j LEFT JOIN $J.job b ON b.name = j.queue AND b.id = j.boss WHERE j.permit = _permit
    FOR NO KEY UPDATE OF j;
  IF _chunk < 0 OR _chunk >= 256 OR _path !~ _may.files THEN RETURN false; END IF;
  IF _path LIKE 'artefacts/%' AND EXISTS (
    SELECT FROM $S.file f WHERE f.run = _of.run AND f.path = _path AND f.job IS DISTINCT FROM _of.job
  ) THEN RETURN true; END IF;
  IF _chunk = 0 THEN DELETE FROM $S.file WHERE run = _of.run AND path = _path; END IF;
  IF (SELECT count(*) FROM $S.file f WHERE f.run = _of.run AND f.job = _of.job) >= _may.pieces AND NOT EXISTS (
    SELECT FROM $S.file f WHERE f.run = _of.run AND f.path = _path AND f.chunk = _chunk
  ) THEN RETURN false; END IF;
  INSERT INTO $S.file (run, path, chunk, body, job) VALUES (_of.run, _path, _chunk, _body, _of.job)
    ON CONFLICT (run, path, chunk) DO UPDATE SET body = excluded.body, written_at = now(), job = excluded.job;
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
