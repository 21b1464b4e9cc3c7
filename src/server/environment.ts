/** Carries the session marker in every process of the server under test, so that processes that outlive it can be found later. */
export const markerVariable = 'MCP_EVAL_CI_PROCESS';

/** Marks the processes of the base, which may be ended while those of the change go on. */
export function nameBaseMarker(marker: string): string {
  return `${marker}-base`;
}

/**
 * What a program needs to run, find its files and speak the user's language, and nothing else: no INPUT_*, ACTIONS_*,
 * GITHUB_TOKEN or API key. RUNNER_TRACKING_ID stays because the runner finds orphans by it at the end of a job;
 * NODE_EXTRA_CA_CERTS and its OpenSSL kin because a server behind a company's proxy could not connect without. NODE_OPTIONS
 * stays out: it loads code, and what suits this process may break the server. Proxy variables stay out: they hold passwords.
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
 * Node connects a child's stdin with a socket. A `bash -c` that finds a socket there and no SHLVL believes that a remote shell
 * daemon started it and reads ~/.bashrc, and with it all that the profile exports (bash(1), "When bash is run remotely").
 */
const shellLevel = { SHLVL: '1' };

/** Builds the environment of the server under test: the allow-listed part of `environment`, then `additions` over it. */
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

/** Whether the server under test gets this variable of the job. */
export function isInheritedVariable(name: string, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== 'win32') return inheritedNames.has(name) || name.startsWith('LC_');
  // Windows spells the same variable Path, PATH or path.
  const upperCased = name.toUpperCase();
  return inheritedNames.has(upperCased) || windowsNames.has(upperCased);
}
