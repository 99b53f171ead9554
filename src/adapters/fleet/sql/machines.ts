/** SQL of the second migration step: invited machines, roles that workers join with, limits for one job. */
export const MACHINES = `
-- A machine with a role of its own. A row that was revoked stays while its role does: it says that the role is shut out.
CREATE TABLE $S.machine (
  role name PRIMARY KEY,
  name text NOT NULL,                  -- the one that it works under; '': the role that all other machines share
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE UNIQUE INDEX machine_name ON $S.machine (name) WHERE revoked_at IS NULL;

-- Only the process that joined under a name speaks for it: it has chosen this token.
ALTER TABLE $S.worker ADD COLUMN token uuid UNIQUE, ADD COLUMN role name;

-- How many joined within a minute, by role.
CREATE TABLE $S.joins (
  role name PRIMARY KEY,
  minute timestamptz NOT NULL,
  count int NOT NULL
);

ALTER TABLE $S.job
  ADD COLUMN files text,               -- which files its worker may write, as a regular expression; NULL: offered before
  ADD COLUMN taken_at timestamptz,
  ADD COLUMN reports int NOT NULL DEFAULT 0; -- since then

ALTER TABLE $S.file ADD COLUMN job text; -- which wrote it; NULL: the coordinator, or an older Skein
CREATE INDEX file_of_job ON $S.file (run, job);

-- What is known of an account holds for one run, or, where run is NULL, for the whole fleet.
ALTER TABLE $S.account DROP CONSTRAINT account_pkey;
ALTER TABLE $S.account ADD COLUMN run bigint REFERENCES $S.run ON DELETE CASCADE;
CREATE UNIQUE INDEX account_of ON $S.account (name, coalesce(run, 0));

-- Which roles of workers say that an account has no more to give: two of them are believed for the whole fleet.
CREATE TABLE $S.account_word (
  account text NOT NULL,
  role name NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (account, role)
);
`;
