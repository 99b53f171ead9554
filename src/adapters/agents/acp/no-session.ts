/** Says that an agent was started and gave no session, with its version and the one that is known to work. */
import { type Failure, failure } from "../../../core/failure.ts";

type Agent = {
  readonly name: string;
  readonly tried: { readonly package: string; readonly version: string } | undefined;
  /** Of that package, as it is installed here. */
  readonly version: string | undefined;
};

/** A person has to install another, or log in: the run stops. */
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
