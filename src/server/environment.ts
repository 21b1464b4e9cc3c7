/** The variable for the session marker in every process of the server under test. It serves to find processes that outlive the server. */
export const markerVariable = 'MCP_EVAL_CI_PROCESS';

/** Names the marker for processes of the base, which may end while those of the change continue. */
export function nameBaseMarker(marker: string): string {
  return `${marker}-base`;
}

/** Names the marker for processes with checks of one's own, which continue while servers end. */
export function nameCheckMarker(marker: string): string {
  return `${marker}-checks`;
}

/** Lists the markers of all processes of a job. */
export function listMarkers(marker: string): string[] {
  return [marker, nameBaseMarker(marker), nameCheckMarker(marker)];
}

/**
 * The variables that a program needs to run, find its files and use the user's language, and no others: no INPUT_*, ACTIONS_*,
 * GITHUB_TOKEN or API key. RUNNER_TRACKING_ID stays, because the runner uses it to find orphans at the end of a job. NODE_EXTRA_CA_CERTS
 * and the OpenSSL variables stay, because a server behind a company's proxy could not connect without them. NODE_OPTIONS is removed: it
 * loads code, and options for this process may break the server. Proxy variables are removed: they hold passwords.
 */
const inheritedNames = new Set(
  'PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TMPDIR TZ NODE_ENV NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR RUNNER_TRACKING_ID'.split(
    ' ',
  ),
);

const windowsNames = new Set(
  'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR'.split(
    ' ',
  ),
);

/**
 * Node connects a child's stdin to a socket. A `bash -c` with a socket as stdin and no SHLVL assumes that a remote shell daemon started
 * it, and reads ~/.bashrc with everything that it exports (bash(1), "When bash is run remotely").
 */
const shellLevel = { SHLVL: '1' };

/** Builds the environment of the server under test: the allow-listed part of `environment`, overridden by `additions`. */
export function buildChildEnvironment(
  environment: NodeJS.ProcessEnv,
  additions: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && isInheritedVariable(name, platform)) inherited[name] = value;
  }
  return { ...inherited, ...(platform === 'win32' ? {} : shellLevel), ...additions };
}

/** Checks if the server under test gets this variable of the job. */
export function isInheritedVariable(name: string, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'win32') return inheritedNames.has(name) || name.startsWith('LC_');
  // Windows accepts any case for a name: Path, PATH or path.
  const upperCased = name.toUpperCase();
  return inheritedNames.has(upperCased) || windowsNames.has(upperCased);
}
