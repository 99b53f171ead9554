/** SQL functions that admit and settle each model call, and take a machine's reports about accounts. */
/** A cap that no call reaches: sums stay far below what a column and a JavaScript number can hold. NULL stays NULL. */
const AT_MOST = `IF _tokens > 1000000000000 THEN _tokens := 1000000000000; END IF;
  IF _microdollars > 1000000000000 THEN _microdollars := 1000000000000; END IF;`;

export const GOVERNOR_FUNCTIONS = `
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

-- Whether so much more than is spent does not fit. What has no price (NULL), or none at all, fits while something is left.
CREATE FUNCTION $S.exceeds(_spent numeric, _more bigint, _most bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(_spent + coalesce(_more, 0) > _most OR (_spent >= _most AND _spent > 0), false)
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
  _least bigint;
BEGIN
  SELECT 'admitted', r.id, r.account INTO "is", id, account FROM $S.reservation r
    WHERE r.asked = _asked AND r.run = _of.run AND r.job = _of.job;
  IF FOUND THEN RETURN; END IF;
  IF EXISTS (
    SELECT FROM $S.job j JOIN $J.job b ON b.name = j.queue AND b.id = j.boss
    WHERE j.permit = _permit AND b.state <> 'active'
  ) THEN RAISE EXCEPTION 'the job was called off' USING ERRCODE = 'SK001'; END IF;
  IF cardinality(_accounts) > 32 THEN RAISE EXCEPTION 'a call has at most 32 accounts' USING ERRCODE = '22023'; END IF;
  IF _microdollars < 0 THEN _microdollars := 0; END IF;
  ${AT_MOST}
  -- One call of a run after the other. A call without a cost is none: it takes a hundredth of a job's reserve at least.
  SELECT greatest(1, g.reserve_tokens / 100) INTO _least FROM $S.governed g WHERE g.run = _of.run FOR UPDATE;
  -- A budget that the coordinator has not written yet is no budget without a limit.
  IF NOT FOUND OR EXISTS (
    SELECT FROM $S.job j, unnest(j.limited_by) AS one (name)
    WHERE j.permit = _permit AND NOT EXISTS (SELECT FROM $S.budget b WHERE b.run = j.run AND b.name = one.name)
  ) THEN
    "is" := 'wait'; wait_ms := 1000;
    RETURN;
  END IF;
  _tokens := greatest(_least, _tokens);
  _now := clock_timestamp();
  IF (SELECT count(*) FROM $S.reservation r WHERE r.run = _of.run AND r.job = _of.job) >= 64 THEN
    "is" := 'wait'; wait_ms := 1000;
    RETURN;
  END IF;
  FOR _one IN
    SELECT wanted.name, min(a.failure) FILTER (WHERE a.state = 'refused') AS failure,
      max(a.until) FILTER (WHERE a.state = 'parked') AS until
    FROM unnest(_accounts) WITH ORDINALITY AS wanted (name, place)
    LEFT JOIN $S.account a ON a.name = wanted.name AND (a.run IS NULL OR a.run = _of.run)
      AND a.state <> 'woken' AND coalesce(a.until > _now, true)
    GROUP BY wanted.name, wanted.place ORDER BY wanted.place
  LOOP
    IF _one.failure IS NULL AND _one.until IS NULL THEN
      account := _one.name;
      EXIT;
    END IF;
    IF _one.failure IS NULL THEN _wakes := least(_wakes, _one.until); ELSE failure := coalesce(failure, _one.failure); END IF;
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
        OR $S.exceeds(_one.spent_microdollars + _claims.microdollars, _microdollars, _one.max_microdollars)
      THEN
        _is_short := true;
        IF _one.spent_tokens + _claims.tokens - _claims.open_tokens + _tokens > _one.max_tokens
          OR $S.exceeds(_one.spent_microdollars + _claims.microdollars - _claims.open_microdollars, _microdollars,
            _one.max_microdollars)
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
  ${AT_MOST}
  IF _tokens IS NOT NULL THEN
    UPDATE $S.job j SET used_tokens = j.used_tokens + _tokens - _kept.tokens,
      used_microdollars = j.used_microdollars
        + coalesce(_microdollars, _kept.microdollars, 0) - coalesce(_kept.microdollars, 0)
    WHERE j.permit = _permit;
  END IF;
  IF _tokens > 0 THEN
    DELETE FROM $S.account a
      WHERE a.name = _kept.account AND a.run = _of.run AND a.state = 'woken' AND _id > a.woken_after;
    IF FOUND THEN
      INSERT INTO $S.report (run, body) VALUES (_of.run,
        json_build_object('type', 'account-worked', 'account', _kept.account)::text);
      PERFORM pg_notify('$N:report:' || _of.run, '');
    END IF;
  END IF;
  PERFORM pg_notify('$N:calls:' || _of.run, '')
    WHERE EXISTS (SELECT FROM $S.job j WHERE j.run = _of.run AND j.waiting_since IS NOT NULL);
END $$;

-- What a run has found out of an account, to its coordinator; all: also to those of other runs that use it and go on now.
CREATE FUNCTION $S.tell_governed(_run bigint, _all boolean, _account text, _body text)
RETURNS void LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
  WITH told AS (
    INSERT INTO $S.report (run, body)
    SELECT run.id, _body FROM $S.run run LEFT JOIN $S.governed g ON g.run = run.id
    WHERE run.id = _run OR (_all AND _account = ANY (g.accounts) AND run.lease_until > clock_timestamp())
    RETURNING run)
  SELECT pg_notify('$N:report:' || run, '') FROM told
$$;

-- A provider said that an account has no more to give, or refused its key. False: the account is none of the run's own,
-- or said too often, and nothing follows for others. A worker's word holds for its own run, for an hour at most, and only its kind is taken
-- from it. It holds for the whole fleet once machines with two roles have said so. A coordinator that was told so by the
-- provider itself is believed for the whole fleet at once.
CREATE FUNCTION $S.refuse(_permit uuid, _account text, _kind text, _wait_ms float8, _failure text)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  _of record := $S.permitted(_permit);
  _most interval := CASE WHEN _of.is_own THEN interval '7 days' ELSE interval '1 hour' END;
  _until timestamptz;
  _for bigint;
BEGIN
  IF _kind IS NULL OR _kind NOT IN ('quota', 'authentication') THEN RETURN false; END IF;
  IF octet_length(_failure) > 8192 THEN
    RAISE EXCEPTION 'a refusal has a failure of at most 8 KB' USING ERRCODE = '22023';
  END IF;
  IF NOT EXISTS (SELECT FROM $S.governed g WHERE g.run = _of.run AND _account = ANY (g.accounts)) THEN RETURN false; END IF;
  IF NOT $S.may_report(_permit) THEN RETURN false; END IF;
  IF _kind = 'authentication' THEN _wait_ms := 3600000; END IF;
  _wait_ms := greatest(0, least(coalesce(_wait_ms, 60000), extract(epoch FROM _most) * 1000));
  _until := clock_timestamp() + _wait_ms * interval '1 ms';
  IF NOT _of.is_own THEN
    _failure := json_build_object('kind', _kind, 'waitMs', CASE _kind WHEN 'quota' THEN _wait_ms END, 'message',
      format(CASE _kind WHEN 'quota' THEN 'machine %s says that account %s is rate limited'
        ELSE 'machine %s says that the key of account %s was refused there' END, _of.worker, _account));
    DELETE FROM $S.account_word w WHERE w.until <= clock_timestamp();
    INSERT INTO $S.account_word AS w (account, role, until) VALUES (_account, session_user, _until)
      ON CONFLICT (account, role) DO UPDATE SET until = excluded.until;
    IF (SELECT count(*) FROM $S.account_word w WHERE w.account = _account) < 2 THEN _for := _of.run; END IF;
  ELSIF json_typeof(_failure::json) <> 'object' THEN
    RAISE EXCEPTION 'a failure is an object' USING ERRCODE = '22023';
  END IF;
  INSERT INTO $S.account AS a (name, run, state, until, failure)
  VALUES (_account, _for, CASE _kind WHEN 'quota' THEN 'parked' ELSE 'refused' END, _until, _failure)
  ON CONFLICT (name, coalesce(run, 0)) DO UPDATE SET state = excluded.state, failure = excluded.failure,
    until = greatest(a.until, excluded.until), woken_after = NULL
  WHERE a.state <> 'refused' OR a.until <= clock_timestamp();
  PERFORM $S.tell_governed(_of.run, _for IS NULL, _account,
    json_build_object('type', 'account-refused', 'account', _account, 'failure', json_strip_nulls(_failure::json))::text);
  PERFORM pg_notify('$N:accounts', '');
  RETURN true;
END $$;
`;
