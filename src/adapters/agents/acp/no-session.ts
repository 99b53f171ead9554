/** Makes the failure of an agent that started but gave no session, with its version and the one known to work. */
import { type Failure, failure } from "../../../core/failure.ts";

type Agent = {
  readonly name: string;
  readonly tried: { readonly package: string; readonly version: string } | undefined;
  /** The installed version of that package. */
  readonly version: string | undefined;
};

/** A setup failure, so that the run stops: a person has to install another version, or log in. */
export function noSession(why: Failure, { name, tried, version }: Agent): Failure {
  const message = `${name} was started and gave no session: ${why.message}`;
  const own = { ...failure("setup", message, why.next), agent: name };
  if (tried === undefined) return own;
  const here =
    version === undefined ? "its version here is not known" : `here is ${tried.package} ${version}`;
  const other = `npm install --global ${tried.package}@${tried.version}`;
  return {
    ...own,
    message: `${message} (${here}; Skein was tried with ${tried.version})`,
    next: version === tried.version ? (why.next ?? other) : other,
  };
}
