/** How validators of frameworks say that arguments do not fit their schema. A tool's own check of a value is not among them. */
const patterns: readonly RegExp[] = [
  /"code":\s*"(?:invalid_type|unrecognized_keys|invalid_enum_value|invalid_union|invalid_literal)"/,
  /\binvalid_type\b|Expected \w+, received \w+|expected (?:string|number|boolean|array|object|record), received/i,
  /\bvalidation errors? for \w+[\s\S]*(?:Field required|Input should be|Extra inputs are not permitted|Missing required argument|Unexpected keyword argument)/,
  /is a required property|is not of type '|is not one of \[|Additional properties are not allowed/,
  /must have required property|must be (?:string|number|integer|boolean|array|object)\b|must NOT have additional properties/,
  /missing field `\w+`|unknown field `\w+`|invalid type: \w+/,
];

/** Checks if a message is a validator's refusal of arguments by their types and names. */
export function isValidationMessage(message: string): boolean {
  return patterns.some((pattern) => pattern.test(message));
}
