import { isRecord, type JsonObject } from '../../base/json.ts';
import { printPointer } from '../answer-view.ts';
import { defineToolChange, type DeclaredParts, type ToolOperator } from './define-operator.ts';

/** A name that no server has. */
const addedName = 'addedByMutate';

export const toolOperators: readonly ToolOperator[] = [
  defineToolChange('drop-tool', 'protocol', () => [{ at: '', what: 'be gone', make: () => null }]),
  defineToolChange('rename-tool', 'protocol', (tool) => [
    { at: '', what: 'have another name', make: () => ({ ...tool, name: `${tool.name}_${addedName}` }) },
  ]),
  defineToolChange('require-argument', 'schema', (tool) => [
    {
      at: '/inputSchema/required',
      what: 'require a further argument',
      make: () => ({ ...tool, inputSchema: requireMember(tool.inputSchema) }),
    },
  ]),
  defineToolChange('retype-argument', 'schema', (tool, sent) => {
    const { properties } = tool.inputSchema;
    return Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, property]) => {
      // Evals cannot notice it of an argument that no case sends.
      if (!sent.some((args) => Object.hasOwn(args, name)) || !isRecord(property)) return [];
      const type = property['type'] === 'boolean' ? 'null' : 'boolean';
      const make = (): DeclaredParts => ({
        ...tool,
        inputSchema: { ...tool.inputSchema, properties: { ...(isRecord(properties) && properties), [name]: { type } } },
      });
      return [
        { at: `/inputSchema${printPointer(['properties', name])}`, what: `accept another type as \`${name}\``, make },
      ];
    });
  }),
  defineToolChange('promise-field', 'schema', (tool) => {
    const { outputSchema } = tool;
    if (outputSchema === null) return [];
    const make = () => ({ ...tool, outputSchema: requireMember(outputSchema) });
    return [{ at: '/outputSchema/required', what: 'declare a field that it does not return', make }];
  }),
  defineToolChange('mark-destructive', 'annotation', (tool) => {
    const { annotations } = tool;
    // Without annotations, hosts take a tool for destructive.
    if (annotations?.['readOnlyHint'] !== true && annotations?.['destructiveHint'] !== false) return [];
    const make = () => ({ ...tool, annotations: { ...annotations, readOnlyHint: false, destructiveHint: true } });
    return [{ at: '/annotations/destructiveHint', what: 'be declared as destructive', make }];
  }),
];

function requireMember(schema: JsonObject): JsonObject {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return { ...schema, required: [...required, addedName] };
}
