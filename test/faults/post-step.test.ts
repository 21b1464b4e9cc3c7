import { describePhase } from './describe-phase.ts';

describePhase('PP');
