/** Where the tests of canaries put a secret. */
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

/** The forms in which a canary could leave; of base64, the part that does not depend on what is around it. */
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
 * The rule for `?k=`: the API answers these, and these alone, with the URL of the record as it was saved, so that a client can read it,
 * change it and send it back; a tunnel that takes the record over answers with the URL from before. Every other answer leaves out the query.
 */
export const answersWithUrl: ReadonlySet<string> = new Set([
  'createProjectServer',
  'updateProjectServer',
  'listProjectServers',
  'getProjectServer',
  'checkOAuth',
  'createTunnel',
]);
