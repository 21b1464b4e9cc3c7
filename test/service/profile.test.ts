import { describe, expect, it } from 'vitest';
import { parseBaseUrl } from '../../src/http/url.ts';
import { serviceProfiles } from '../../src/service/profile.ts';

const place = { baseUrl: 'https://h.example:8443/api/v1', projectId: 'p 1', suiteId: 's/1', runId: 'r?1' };
const profiles = Object.values(serviceProfiles);

describe('a profile', () => {
  it('names the one subprotocol of its relay', () => {
    expect(profiles.map(({ name, subprotocol }) => [name, subprotocol])).toEqual([
      ['embedded', 'svc-tunnel.v1'],
      ['svc', 'svc-tunnel.v1'],
      ['mcpjam', 'mcpjam-tunnel.v1'],
    ]);
  });

  it('has a default base URL only for a service with one address', () => {
    expect(profiles.map(({ defaultBaseUrl }) => defaultBaseUrl)).toEqual([null, null, 'https://app.mcpjam.com/api/v1']);
    expect(parseBaseUrl(serviceProfiles.mcpjam.defaultBaseUrl ?? '').pathname).toBe('/api/v1');
  });

  it.each(['svc', 'mcpjam'] as const)('of %s leads to the page of a run', (name) => {
    expect(serviceProfiles[name].composeRunUrl(place)).toBe(
      'https://h.example:8443/evals/suite/s%2F1/runs/r%3F1?project=p%201',
    );
  });

  it('leads to no page without one, or with an invalid base URL', () => {
    expect(serviceProfiles.embedded.composeRunUrl(place)).toBeNull();
    expect(serviceProfiles.svc.composeRunUrl({ ...place, baseUrl: 'not a url' })).toBeNull();
  });

  it('survives ids that are not text that can be encoded', () => {
    expect(serviceProfiles.svc.composeRunUrl({ ...place, runId: '\ud800' })).toContain('/runs/%EF%BF%BD?');
  });

  it.each(profiles)('of $name never asks after a run faster than it may call', ({ polling, pacing }) => {
    expect(polling.firstMs).toBeGreaterThanOrEqual(pacing === null ? 0 : 1000 / pacing.perSecond);
    expect(polling.longestMs).toBeGreaterThan(polling.firstMs);
  });
});
