/** The part of docs/benchmark.md that says which published fault each class of bugs stands for. */
export const taxonomies = `The classes follow three studies of faults in MCP servers. [arXiv 2606.05339](https://arxiv.org/abs/2606.05339) sorts 837 reports of faults at run time;
[arXiv 2603.05637](https://arxiv.org/abs/2603.05637) sorts faults of MCP software into five groups, of which the faults of tools are the ones that a patch of one
text can re-make; [arXiv 2606.04769](https://arxiv.org/abs/2606.04769) counts descriptions that do not match the code.

| Class | What a bug of it does | Operators | Study |
| --- | --- | --- | --- |
| condition, boundary | a tool does the wrong thing for some arguments | negate, equality, logic, boundary, shift, arithmetic | 2606.05339 tool invocation; 2603.05637 |
| default | a parameter is accepted and has no effect, or another default | flip-default | 2606.05339 parameters that are not enforced |
| await, state | a change is lost, or comes too late | drop-await, drop-call | 2606.05339 state management |
| field, schema | a result or a schema has another shape | rename-field, drop-field, swap-name, drop-constraint | 2606.05339 schema enforcement |
| error-flag | a failure reads as a success | lose-error | 2606.05339 tool invocation |
| order, text, filter | an answer has other parts, or in another order or form | reverse-order, drop-trim, drop-separator, change-case, drop-item | 2603.05637 |
| path | a check of a path or an address is passed by | – | 2606.05339 security validation |
| protocol | an answer breaks the protocol, or a capability is gone | – | 2606.05339 protocol interaction |
| latency, chance | an answer comes late, or differs now and then | – | 2606.05339 timeouts |
| annotation, description | what a host shows does not match what the code does | flip-annotation, cut-description | 2606.04769 |`;
