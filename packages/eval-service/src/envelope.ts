/** The only combinations of code and status in the API's answers. */
const statusByCode = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  OAUTH_REQUIRED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  FEATURE_NOT_SUPPORTED: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVER_UNREACHABLE: 502,
  TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof statusByCode;

/** A refused request. The client gets `{code, message, details?}`. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  /** Whole seconds, 1 or more, sent in Retry-After; undefined if waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Readonly<Record<string, unknown>>; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = options.details ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Renders a refusal as its response; leaves out empty `details`. */
export function renderApiError(error: ApiError): Response {
  const details = Object.keys(error.details).length === 0 ? {} : { details: error.details };
  const headers = error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) };
  return Response.json(
    { code: error.code, message: error.message, ...details },
    { status: statusByCode[error.code], headers },
  );
}

/** Makes the refusal for a record that does not exist or belongs to another project: both must look the same. */
export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `${what} not found.`);
}

export function invalid(message: string, details: Readonly<Record<string, unknown>> = {}): ApiError {
  return new ApiError('VALIDATION_ERROR', message, { details });
}

/** Makes the refusal for an operation that this service lacks; `why` is a whole sentence. */
export function notSupported(why: string): ApiError {
  return new ApiError('FEATURE_NOT_SUPPORTED', why);
}
