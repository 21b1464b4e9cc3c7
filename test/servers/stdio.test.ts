import { describeTransport } from './describe-transport.ts';

describeTransport('stdio');
