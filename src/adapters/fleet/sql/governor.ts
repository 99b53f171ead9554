/** The tables of accounts, budgets and reservations, and the functions that are asked before and after each call of a model. */
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

-- The machine that had a job lost it: what it used stays charged, with its calls that were under way.
CREATE FUNCTION $S.lose_try(_boss uuid)
RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH cut AS (
    DELETE FROM $S.reservation r USING $S.job j WHERE j.boss = _boss AND r.run = j.run AND r.job = j.job
    RETURNING r.tokens, r.microdollars
  ), sums AS (
    SELECT count(*) AS calls, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(microdollars), 0) AS microdollars FROM cut
  )
  UPDATE $S.job j SET lost_tokens = j.used_tokens, lost_microdollars = j.used_microdollars, waiting_since = NULL,
    cut_calls = j.cut_calls + sums.calls, cut_tokens = j.cut_tokens + sums.tokens,
    cut_microdollars = j.cut_microdollars + sums.microdollars
  FROM sums WHERE j.boss = _boss
$$;

-- What counts in a budget besides what the log knows: used or set aside by jobs; and the part that is only set aside.
CREATE FUNCTION $S.claims(_run bigint, _job text, _budget text,
  OUT tokens numeric, OUT microdollars numeric, OUT open_tokens numeric, OUT open_microdollars numeric)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT
    coalesce(sum(CASE WHEN one.is_live THEN one.used_tokens WHEN one.job = _job THEN 0 ELSE run.reserve_tokens END), 0),
    coalesce(sum(CASE WHEN one.is_live THEN one.used_microdollars WHEN one.job = _job THEN 0
      ELSE run.reserve_microdollars END), 0),
    coalesce(sum(kept.tokens), 0), coalesce(sum(kept.microdollars), 0)
  FROM $S.job one
  JOIN $S.governed run ON run.run = one.run
  LEFT JOIN LATERAL (
    SELECT sum(r.tokens) AS tokens, sum(r.microdollars) AS microdollars
    FROM $S.reservation r WHERE r.run = one.run AND r.job = one.job
  ) kept ON true
  WHERE one.run = _run AND _budget = ANY (one.counts_in)
$$;

-- Says 'admitted' with an account and a number; 'wait', perhaps for so long; or 'refused' with a failure.
CREATE FUNCTION $S.admit(_permit uuid, _asked uuid, _accounts text[], _tokens bigint, _microdollars bigint,
  OUT "is" text, OUT id bigint, OUT account text, OUT wait_ms float8, OUT failure text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
  _one record;
  _claims record;
  _now timestamptz;
  _wakes timestamptz;
  _is_short boolean := false;
BEGIN
  SELECT 'admitted', r.id, r.account INTO "is", id, account FROM $S.reservation r
    WHERE r.asked = _asked AND r.run = _of.run AND r.job = _of.job;
  IF FOUND THEN RETURN; END IF;
  IF EXISTS (
    SELECT FROM $S.job j JOIN $J.job b ON b.name = j.queue AND b.id = j.boss
    WHERE j.permit = _permit AND b.state <> 'active'
  ) THEN RAISE EXCEPTION 'the job was called off' USING ERRCODE = 'SK001'; END IF;
  _tokens := greatest(0, _tokens);
  IF _microdollars < 0 THEN _microdollars := 0; END IF;
  PERFORM 1 FROM $S.governed g WHERE g.run = _of.run FOR UPDATE; -- One call of a run after the other.
  -- A budget that the coordinator has not written yet is no budget without a limit.
  IF NOT FOUND OR EXISTS (
    SELECT FROM $S.job j, unnest(j.limited_by) AS one (name)
    WHERE j.permit = _permit AND NOT EXISTS (SELECT FROM $S.budget b WHERE b.run = j.run AND b.name = one.name)
  ) THEN
    "is" := 'wait'; wait_ms := 1000;
    RETURN;
  END IF;
  _now := clock_timestamp();
  FOR _one IN
    SELECT wanted.name, a.state, a.until, a.failure
    FROM unnest(_accounts) WITH ORDINALITY AS wanted (name, place)
    LEFT JOIN $S.account a ON a.name = wanted.name ORDER BY wanted.place
  LOOP
    IF _one.state IS NULL OR _one.state = 'woken' OR (_one.state = 'parked' AND _one.until <= _now) THEN
      account := _one.name;
      EXIT;
    END IF;
    IF _one.state = 'parked' THEN _wakes := least(_wakes, _one.until); ELSE failure := coalesce(failure, _one.failure); END IF;
  END LOOP;
  IF account IS NULL AND _wakes IS NULL THEN "is" := 'refused'; RETURN; END IF;
  failure := NULL;
  IF account IS NOT NULL THEN
    FOR _one IN
      SELECT b.* FROM $S.budget b JOIN $S.job j ON j.run = b.run AND b.name = ANY (j.limited_by)
      WHERE j.run = _of.run AND j.job = _of.job ORDER BY array_position(j.limited_by, b.name)
    LOOP
      _claims := $S.claims(_of.run, _of.job, _one.name);
      IF _one.spent_tokens + _claims.tokens + _tokens > _one.max_tokens
        OR _one.spent_microdollars + _claims.microdollars + _microdollars > _one.max_microdollars
      THEN
        _is_short := true;
        IF _one.spent_tokens + _claims.tokens - _claims.open_tokens + _tokens > _one.max_tokens
          OR _one.spent_microdollars + _claims.microdollars - _claims.open_microdollars + _microdollars
            > _one.max_microdollars
        THEN
          "is" := 'refused'; failure := _one.failure; account := NULL;
          RETURN;
        END IF;
      END IF;
    END LOOP;
  END IF;
  IF account IS NULL OR _is_short THEN
    "is" := 'wait';
    wait_ms := extract(epoch FROM CASE WHEN account IS NULL THEN _wakes END - _now) * 1000;
    account := NULL;
    UPDATE $S.job j SET waiting_since = _now WHERE j.permit = _permit AND j.waiting_since IS NULL;
    IF FOUND THEN PERFORM pg_notify('$N:waits:' || _of.run, ''); END IF;
    RETURN;
  END IF;
  "is" := 'admitted';
  INSERT INTO $S.reservation AS r (asked, run, job, account, tokens, microdollars)
    VALUES (_asked, _of.run, _of.job, admit.account, _tokens, _microdollars) RETURNING r.id INTO id;
  UPDATE $S.job j SET is_live = true, used_tokens = j.used_tokens + _tokens,
    used_microdollars = j.used_microdollars + coalesce(_microdollars, 0) WHERE j.permit = _permit;
  UPDATE $S.job j SET waiting_since = NULL,
    waited_ms = j.waited_ms + extract(epoch FROM _now - j.waiting_since) * 1000
    WHERE j.permit = _permit AND j.waiting_since IS NOT NULL;
  IF FOUND THEN PERFORM pg_notify('$N:waits:' || _of.run, ''); END IF;
END $$;

-- What an admitted call cost; NULL tokens: nobody knows, and what was set aside stays charged. Once for each call.
CREATE FUNCTION $S.settle(_permit uuid, _id bigint, _tokens bigint, _microdollars bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
  _kept record;
BEGIN
  DELETE FROM $S.reservation r WHERE r.id = _id AND r.run = _of.run AND r.job = _of.job RETURNING * INTO _kept;
  IF NOT FOUND THEN RETURN; END IF;
  IF _tokens < 0 THEN _tokens := 0; END IF; -- NULL stays NULL.
  IF _microdollars < 0 THEN _microdollars := 0; END IF;
  IF _tokens IS NOT NULL THEN
    UPDATE $S.job j SET used_tokens = j.used_tokens + _tokens - _kept.tokens,
      used_microdollars = j.used_microdollars
        + coalesce(_microdollars, _kept.microdollars, 0) - coalesce(_kept.microdollars, 0)
    WHERE j.permit = _permit;
  END IF;
  IF _tokens > 0 THEN
    DELETE FROM $S.account a WHERE a.name = _kept.account AND a.state = 'woken' AND _id > a.woken_after;
    IF FOUND THEN
      PERFORM $S.tell_governed(_of.run, _kept.account,
        json_build_object('type', 'account-worked', 'account', _kept.account)::text);
    END IF;
  END IF;
  PERFORM pg_notify('$N:calls:' || _of.run, '')
    WHERE EXISTS (SELECT FROM $S.job j WHERE j.run = _of.run AND j.waiting_since IS NOT NULL);
END $$;

-- A report about an account to the coordinator of a run, and to those of all other runs that call it and go on now.
CREATE FUNCTION $S.tell_governed(_run bigint, _account text, _body text)
RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH told AS (
    INSERT INTO $S.report (run, body)
    SELECT run.id, _body FROM $S.run run LEFT JOIN $S.governed g ON g.run = run.id
    WHERE run.id = _run OR (_account = ANY (g.accounts) AND run.lease_until > clock_timestamp())
    RETURNING run)
  SELECT pg_notify('$N:report:' || run, '') FROM told
$$;

-- What a run's machines say of an account counts if the run itself uses it, or no run does that is under way.
CREATE FUNCTION $S.may_refuse(_run bigint, _account text)
RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM $S.governed g WHERE g.run = _run AND _account = ANY (g.accounts))
    OR NOT EXISTS (
      SELECT FROM $S.governed g JOIN $S.run r ON r.id = g.run
      WHERE _account = ANY (g.accounts) AND r.lease_until > clock_timestamp())
$$;

-- A provider said that an account has no more to give, or refused its key: nobody in the fleet is admitted to it from
-- here on. It is over after wait_ms, until the log of a run says otherwise.
CREATE FUNCTION $S.refuse(_permit uuid, _account text, _kind text, _wait_ms float8, _failure text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
  _until timestamptz := clock_timestamp() + greatest(0, least(coalesce(_wait_ms, 60000), 604800000)) * interval '1 ms';
BEGIN
  IF _kind IS NULL OR _kind NOT IN ('quota', 'authentication') THEN RETURN; END IF;
  IF octet_length(_account) > 200 OR octet_length(_failure) > 8192 OR json_typeof(_failure::json) <> 'object' THEN
    RAISE EXCEPTION 'a refusal is a short name and a failure of at most 8 KB' USING ERRCODE = '22023';
  END IF;
  IF NOT $S.may_refuse(_of.run, _account) THEN RETURN; END IF;
  INSERT INTO $S.account AS a (name, state, until, failure)
  VALUES (_account, CASE _kind WHEN 'quota' THEN 'parked' ELSE 'refused' END,
    CASE _kind WHEN 'quota' THEN _until END, _failure)
  ON CONFLICT (name) DO UPDATE SET state = excluded.state, failure = excluded.failure,
    until = greatest(a.until, excluded.until), woken_after = NULL
  WHERE a.state <> 'refused';
  PERFORM $S.tell_governed(_of.run, _account,
    json_build_object('type', 'account-refused', 'account', _account, 'failure', _failure::json)::text);
  PERFORM pg_notify('$N:accounts', '');
END $$;
`;
