import { replaceInexact } from '@octavo/web/validation';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { queryTooComplex } from './errors.ts';
import { checkLimits, documentBytesMax, tokensMax } from './limits.ts';

const preparedMax = 1_000;
/** A document is compiled when it comes for the second time, since compiling costs more than executing once. */
const usesBeforeCompiling = 1;

interface Prepared {
  readonly document: DocumentNode;
  readonly errors: readonly GraphQLError[];
  readonly compiled: Map<string, CompiledQuery | undefined>;
  uses: number;
}

interface Request {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: object | null | undefined;
}

/** Parses, validates and compiles documents, each once as long as it is among the last thousand. */
export class Execution {
  readonly schema: GraphQLSchema;
  readonly #rules: typeof specifiedRules;
  readonly #prepared = new Map<string, Prepared>();
  readonly #byDocument = new WeakMap<DocumentNode, Prepared>();

  constructor(schema: GraphQLSchema, { introspection }: { readonly introspection: boolean }) {
    this.schema = schema;
    this.#rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  }

  /** The arguments to run a request with, or the errors that refuse it. Numbers of its variables keep their digits. */
  prepare<C>({ query, operationName, variables }: Request, contextOf: () => C) {
    if (variables) replaceInexact(variables);
    const variableValues = variables as Readonly<Record<string, unknown>> | null | undefined;
    const document = this.#accept(query, operationName, variableValues);
    if (!('kind' in document)) return document;
    return { schema: this.schema, document, operationName, variableValues, contextValue: contextOf() };
  }

  /** Runs a query or mutation. */
  execute(args: ExecutionArgs): Promise<ExecutionResult> | ExecutionResult {
    const prepared = this.#byDocument.get(args.document);
    const compiled =
      prepared && prepared.uses > usesBeforeCompiling && this.#compile(prepared, args.operationName);
    if (!compiled) {
      if (prepared) prepared.uses++;
      return execute(args) as Promise<ExecutionResult>;
    }
    return compiled.query(args.rootValue, args.contextValue, args.variableValues) as Promise<ExecutionResult>;
  }

  #accept(
    query: string,
    operationName: string | null | undefined,
    variables: Readonly<Record<string, unknown>> | null | undefined,
  ): DocumentNode | readonly GraphQLError[] {
    if (Buffer.byteLength(query) > documentBytesMax) return [tooLong()];
    const prepared = this.#find(query);
    if (prepared.errors.length > 0) return prepared.errors;
    const operation = getOperationAST(prepared.document, operationName);
    if (!operation) return [new GraphQLError('Name the operation to run with operationName.')];
    const refusal = checkLimits(prepared.document, operation, variables ?? {});
    return refusal ? [refusal] : prepared.document;
  }

  #find(query: string): Prepared {
    const known = this.#prepared.get(query);
    if (known) return known;
    const prepared = this.#prepare(query);
    const oldest = this.#prepared.keys().next().value;
    if (this.#prepared.size >= preparedMax && oldest !== undefined) this.#prepared.delete(oldest);
    this.#prepared.set(query, prepared);
    this.#byDocument.set(prepared.document, prepared);
    return prepared;
  }

  #prepare(query: string): Prepared {
    const common = { compiled: new Map(), uses: 0 };
    try {
      const document = parse(query, { maxTokens: tokensMax });
      return { ...common, document, errors: validate(this.schema, document, this.#rules) };
    } catch (error) {
      const refusal =
        error instanceof GraphQLError ? error : new GraphQLError('The document cannot be read.');
      const errors = [refusal.message.includes(`${tokensMax} tokens`) ? tooManyTokens() : refusal];
      return { ...common, document: { kind: Kind.DOCUMENT, definitions: [] }, errors };
    }
  }

  #compile(prepared: Prepared, operationName: string | null | undefined): CompiledQuery | undefined {
    const name = operationName ?? '';
    if (!prepared.compiled.has(name)) {
      const result = compileQuery(this.schema, prepared.document, name || undefined);
      prepared.compiled.set(name, isCompiledQuery(result) ? result : undefined);
    }
    return prepared.compiled.get(name);
  }
}

function tooLong(): GraphQLError {
  return queryTooComplex(`The document is longer than ${documentBytesMax / 1_024} KiB.`);
}

function tooManyTokens(): GraphQLError {
  return queryTooComplex(`The document has more than ${tokensMax} tokens.`);
}

/** The errors of a result, for clients. */
export function formatResult(
  result: ExecutionResult,
  format: (error: GraphQLError) => GraphQLError,
): FormattedExecutionResult {
  return result.errors
    ? { ...result, errors: result.errors.map(format) }
    : (result as FormattedExecutionResult);
}
