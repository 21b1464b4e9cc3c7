import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ways, type Send } from '../../../../test/support/service/answers.ts';
import { holdKey } from '../../../../test/support/service/callers.ts';
import { type ContractService, openContractService } from '../../../../test/support/service/contract-service.ts';

const keys = [
  holdKey('owner', 'org_one', 'admin'),
  holdKey('member', 'org_one', 'member'),
  holdKey('guest', 'org_one', 'guest'),
  holdKey('stranger', 'org_two', 'admin'),
];
const owner = { key: 'sk_owner' };
const member = { key: 'sk_member' };
const digest = `sha256:${'0'.repeat(64)}`;
const draft = { name: 'Tools', blueprint: 'FROM debian:bookworm-slim\nRUN true\n' };

describe('sandbox images', () => {
  let service: ContractService;
  beforeAll(async () => {
    service = await openContractService({ keys });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  const createDraft = async (send: Send, as = owner) => {
    const { body } = await send('createSandboxImage', draft, as);
    return String(body.id);
  };
  const share = async (send: Send) => {
    const imageId = await createDraft(send);
    await send('promoteSandboxImage', { imageId }, owner);
    return imageId;
  };

  it.each(ways)('createSandboxImage answers 201: a personal draft ($way)', async ({ open }) => {
    const { status, body } = await open(service)('createSandboxImage', { ...draft, name: ' Tools ' }, member);
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(/^img_/),
        projectId: service.projectId,
        ...draft,
        contentHash: expect.stringMatching(/^sha256:[\da-f]{64}$/),
        sharing: 'user',
        isOwner: true,
        currentBuild: null,
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
      },
    });
  });

  it.each(ways)('createSandboxImage answers 400: an invalid blueprint ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createSandboxImage', { name: 'A', blueprint: 'RUN true' }, owner);
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it('name the line of the first mistake in a blueprint, and list all in the details', async () => {
    const answer = await fetch(`${service.baseUrl}/projects/${service.projectId}/images`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk_owner' },
      body: JSON.stringify({ name: 'A', blueprint: 'FROM debian\nCOPY a b\nRNU c' }),
    });
    expect(await answer.json()).toMatchObject({
      message: 'blueprint: line 2: A blueprint is built without files to copy; fetch or write them with RUN',
      details: {
        errors: [
          { line: 2, code: 'excluded-instruction' },
          { line: 3, code: 'unknown-instruction' },
        ],
      },
    });
  });

  it.each(ways)('createSandboxImage answers 403: a guest ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createSandboxImage', draft, { key: 'sk_guest' });
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  it.each(ways)('createSandboxImage answers 404: a project of another organization ($way)', async ({ open }) => {
    const { status, code } = await open(service)('createSandboxImage', draft, { key: 'sk_stranger' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('listSandboxImages answers 200: own drafts and shared images ($way)', async ({ open }) => {
    const send = open(service);
    const own = await createDraft(send, member);
    const shared = await share(send);
    const foreign = await createDraft(send, owner);
    const { status, body } = await send('listSandboxImages', {}, member);
    expect(status).toBe(200);
    const items: Array<{ id: string; isOwner: boolean; sharing: string }> = body.items;
    expect(items).toContainEqual(expect.objectContaining({ id: own, isOwner: true, sharing: 'user' }));
    expect(items).toContainEqual(expect.objectContaining({ id: shared, isOwner: false, sharing: 'project' }));
    expect(items.map(({ id }) => id)).not.toContain(foreign);
  });

  it.each(ways)('listSandboxImages answers 404: a project of another organization ($way)', async ({ open }) => {
    const { status, code } = await open(service)('listSandboxImages', {}, { key: 'sk_stranger' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('getSandboxImage answers 200: an image that the project shares ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await share(send);
    for (const key of ['sk_member', 'sk_guest']) {
      const { status, body } = await send('getSandboxImage', { imageId }, { key });
      expect({ status, body }).toMatchObject({ status: 200, body: { id: imageId, ...draft, isOwner: false } });
    }
  });

  it.each(ways)('getSandboxImage answers 404: a draft of another user ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('getSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('getSandboxImage answers 404: an image of another project ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await share(send);
    const { body: project } = await send('createProject', { name: 'Second' }, owner);
    const { status, code } = await send('getSandboxImage', { projectId: project.id, imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('updateSandboxImage answers 200: the given fields ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { body: before } = await send('getSandboxImage', { imageId }, member);
    const renamed = await send('updateSandboxImage', { imageId, name: 'Renamed' }, member);
    expect(renamed).toMatchObject({
      status: 200,
      body: { ...draft, name: 'Renamed', contentHash: before.contentHash },
    });
    const changed = await send('updateSandboxImage', { imageId, blueprint: 'FROM alpine' }, member);
    expect(changed).toMatchObject({ status: 200, body: { name: 'Renamed', blueprint: 'FROM alpine' } });
    expect(changed.body.contentHash).not.toBe(before.contentHash);
  });

  it.each(ways)('updateSandboxImage answers 400: an invalid blueprint ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send);
    const { status, code } = await send('updateSandboxImage', { imageId, blueprint: 'FROM' }, owner);
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('updateSandboxImage answers 403: a member and a shared image ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await share(send);
    const { status, code } = await send('updateSandboxImage', { imageId, name: 'Mine' }, member);
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await send('updateSandboxImage', { imageId, name: 'Ours' }, owner)).status).toBe(200);
  });

  it.each(ways)('updateSandboxImage answers 404: a draft of another user ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('updateSandboxImage', { imageId, name: 'Mine' }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('promoteSandboxImage answers 200: the project shares it, also asked twice ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send);
    for (let time = 0; time < 2; time += 1) {
      const { status, body } = await send('promoteSandboxImage', { imageId }, owner);
      expect({ status, body }).toMatchObject({ status: 200, body: { id: imageId, sharing: 'project', isOwner: true } });
    }
  });

  it.each(ways)('promoteSandboxImage answers 403: a member ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('promoteSandboxImage', { imageId }, member);
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
  });

  it.each(ways)('promoteSandboxImage answers 404: a draft of another user ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('promoteSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('deleteSandboxImage answers 200: it is gone ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, body } = await send('deleteSandboxImage', { imageId }, member);
    expect({ status, body }).toEqual({ status: 200, body: { id: imageId, deleted: true } });
    expect((await send('getSandboxImage', { imageId }, member)).status).toBe(404);
  });

  it.each(ways)('deleteSandboxImage answers 400: a body ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send);
    const { status, code } = await send('deleteSandboxImage', { imageId, force: true }, owner);
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('deleteSandboxImage answers 403: a member and a shared image ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await share(send);
    const { status, code } = await send('deleteSandboxImage', { imageId }, member);
    expect({ status, code }).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await send('deleteSandboxImage', { imageId }, owner)).status).toBe(200);
  });

  it.each(ways)('deleteSandboxImage answers 404: an image that is gone ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send);
    await send('deleteSandboxImage', { imageId }, owner);
    const { status, code } = await send('deleteSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('listSandboxImageBuilds answers 404: a draft of another user ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('listSandboxImageBuilds', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('validateSandboxImageBlueprint answers 200: a valid one, with its digest ($way)', async ({ open }) => {
    const send = open(service);
    const pinned = await send('validateSandboxImageBlueprint', { blueprint: `FROM debian@${digest}` }, owner);
    expect(pinned).toMatchObject({ status: 200, body: { ok: true, baseImageDigest: digest } });
    const { status, body } = await send('validateSandboxImageBlueprint', { blueprint: 'FROM debian' }, owner);
    expect({ status, body }).toEqual({ status: 200, body: { ok: true } });
  });

  it.each(ways)('validateSandboxImageBlueprint answers 200: its mistakes ($way)', async ({ open }) => {
    const { status, body } = await open(service)('validateSandboxImageBlueprint', { blueprint: '' }, owner);
    expect({ status, body }).toEqual({
      status: 200,
      body: { ok: false, errors: [expect.objectContaining({ line: 1, path: 'line 1', code: 'missing-from' })] },
    });
  });

  it.each(ways)('validateSandboxImageBlueprint answers 400: another field ($way)', async ({ open }) => {
    const { status, code } = await open(service)('validateSandboxImageBlueprint', { ...draft }, owner);
    expect({ status, code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' });
  });

  it.each(ways)('buildSandboxImage answers 422: a service without a container engine ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send);
    const { status, code } = await send('buildSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
    expect((await send('listSandboxImageBuilds', { imageId }, owner)).body).toEqual({ items: [] });
  });

  it.each(ways)('useSandboxImage answers 422: a service without a container engine ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send);
    const { status, code } = await send('useSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
  });

  it.each(ways)('resetComputer answers 422: a service without a container engine ($way)', async ({ open }) => {
    const { status, code } = await open(service)('resetComputer', {}, owner);
    expect({ status, code }).toEqual({ status: 422, code: 'FEATURE_NOT_SUPPORTED' });
  });

  it.each(ways)('buildSandboxImage answers 404: a draft of another user ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('buildSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('useSandboxImage answers 404: a draft of another user ($way)', async ({ open }) => {
    const send = open(service);
    const imageId = await createDraft(send, member);
    const { status, code } = await send('useSandboxImage', { imageId }, owner);
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  it.each(ways)('resetComputer answers 404: a project of another organization ($way)', async ({ open }) => {
    const { status, code } = await open(service)('resetComputer', {}, { key: 'sk_stranger' });
    expect({ status, code }).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});
