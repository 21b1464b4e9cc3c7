import { describe, expect, it } from 'vitest';
import { composeContentSecurityPolicy, listOrigins } from '../../src/model/app-policy.ts';

describe('composeContentSecurityPolicy', () => {
  it('allows nothing from elsewhere where an app declares nothing', () => {
    expect(composeContentSecurityPolicy(null).split('; ')).toEqual([
      `default-src 'none'`,
      `script-src 'self' 'unsafe-inline'`,
      `style-src 'self' 'unsafe-inline'`,
      `img-src 'self' data:`,
      `font-src 'none'`,
      `media-src 'self' data:`,
      `connect-src 'none'`,
      `frame-src 'none'`,
      `object-src 'none'`,
      `base-uri 'self'`,
      `form-action 'none'`,
    ]);
  });

  it('allows what each list declares, in its own directives', () => {
    const policy = composeContentSecurityPolicy({
      connectDomains: ['https://api.example.com', 'wss://live.example.com'],
      resourceDomains: ['https://*.example.org'],
      frameDomains: ['https://video.example.net'],
      baseUriDomains: ['https://base.example.com'],
    });
    expect(policy).toContain(`connect-src 'self' https://api.example.com wss://live.example.com;`);
    for (const name of ['script', 'style', 'img', 'font', 'media'])
      expect(policy).toMatch(new RegExp(`${name}-src [^;]*https://\\*\\.example\\.org`));
    expect(policy).toContain('frame-src https://video.example.net;');
    expect(policy).toContain('base-uri https://base.example.com;');
  });

  it.each([
    '*',
    'https:',
    'https://a.example; script-src *',
    "'unsafe-eval'",
    'https://a.example https://b.example',
    'https://a.example,b',
    'a\r\nx-header: 1',
    'data:',
  ])('leaves out %j, which is no origin', (origin) => {
    const declared = { connectDomains: [origin], resourceDomains: [origin], frameDomains: [origin] };
    expect(composeContentSecurityPolicy(declared)).toBe(composeContentSecurityPolicy({}));
    expect(listOrigins(declared)).toEqual([]);
  });
});
