/** Which parts of a text are secrets? Known values and well-known shapes, blotted out in time that grows with the text. */

/** A name such as API_KEY or DB_PASSWORD; not KEYBOARD or MONKEY. */
export const looksSecret = (name: string): boolean => SECRET_NAME.test(name);

const SECRET_NAME =
  /(?:^|_)(?:API_?KEY|[A-Z0-9]*KEY|[A-Z0-9]*TOKEN|PAT|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD_HASH|CREDENTIALS?|CREDS|AUTH|COOKIE|SESSION|DSN|PRIVATE)(?:_|$|[0-9])/i;
