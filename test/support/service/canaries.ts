/** The places in which the tests of canaries put a secret. */
const places = [
  'header',
  'client',
  'env',
  'argument',
  'command',
  'query',
  'token',
  'refresh',
  'grant',
  'model',
  'plugin',
] as const;

/** A secret whose base64 and percent-encoded forms differ from its plain one. */
export function canaryOf(place: (typeof places)[number]): string {
  return `canary/${place}+of?secrets`;
}

/** Lists the possible forms of a leaked canary; of base64, only the part that is independent of the text around it. */
function listForms(canary: string): string[] {
  const encoded = [0, 1, 2].map((before) =>
    Buffer.from(' '.repeat(before) + canary)
      .toString('base64')
      .slice(4, -4),
  );
  const forms = [canary, encodeURIComponent(canary), encodeURI(canary), ...encoded];
  return [...forms, ...encoded.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** Lists the places whose canaries a text has, in any form. */
export function findCanaries(text: string): string[] {
  return places.filter((place) => listForms(canaryOf(place)).some((form) => text.includes(form)));
}

/**
 * The operations that may answer with `?k=`: only these contain the URL of the record as it was saved, so that a client can read it, change it and
 * send it back. A tunnel that takes over a record returns the previous URL. All other answers leave out the query.
 */
export const answersWithUrl: ReadonlySet<string> = new Set([
  'createProjectServer',
  'updateProjectServer',
  'listProjectServers',
  'getProjectServer',
  'checkOAuth',
  'createTunnel',
]);
