import type { AppError } from '@octavo/core';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyRequest, preValidationHookHandler } from 'fastify';
import type { Caller } from '../accounts/user.ts';
import { EmailState, message, PasswordReset, ResetRequest, Verification } from '../api-schemas.ts';
import { errors } from '../errors.ts';
import { routes } from '../routes.ts';
import type { MailLinks } from './links.ts';

interface LinkApiOptions {
  readonly links: MailLinks;
  /** The rate limit, which runs after the access check. */
  readonly preValidation: preValidationHookHandler;
  /** Lets bearers of a token through, as `callerOf` returns them. */
  readonly bearer: AccessRule;
  readonly bearerErrors: readonly AppError[];
  callerOf(request: FastifyRequest): Caller;
}

const requested = {
  message: 'If the address belongs to an account, a mail with a link is on its way.',
} as const;
const reset = { message: 'Password reset successfully' } as const;
const verified = { message: 'Email verified successfully' } as const;
const sent = { message: 'Unless the address is verified, a mail with a link is on its way.' } as const;
const tags = ['mail'];

/** Adds password reset and verification of addresses by mail. */
export function addLinkRoutes(app: HttpApp, options: LinkApiOptions): void {
  addReset(app, options);
  addVerification(app, options);
}

function addReset(app: HttpApp, { links, preValidation }: LinkApiOptions): void {
  app.post(
    routes.forgotPassword,
    {
      access: 'public',
      preValidation,
      schema: {
        tags,
        body: ResetRequest,
        response: { 200: message(requested.message) },
        summary: 'Mail a link to reset the password',
        description:
          'Takes an `email`. The response is the same whether or not the address has an account. An address gets a few mails an hour. 503 if this server sends no mails.',
      },
      config: { errors: [errors.rateLimited(60), errors.noMail()] },
    },
    async (request) => {
      links.requestReset(request.body.email, visitorOf(request));
      return requested;
    },
  );
  app.post(
    routes.resetPassword,
    {
      access: 'public',
      preValidation,
      schema: {
        tags,
        body: PasswordReset,
        response: { 200: message(reset.message) },
        summary: 'Set a new password by the token of a mailed link',
        description:
          'Takes the `token` of the link and a `newPassword`. All sessions end, and a mail tells the owner. The link works once; a password that is too weak does not use it up.',
      },
      config: {
        errors: [
          errors.weakPassword('must be at least 8 characters'),
          errors.invalidToken(),
          errors.tokenExpired(),
          errors.rateLimited(60),
        ],
      },
    },
    async (request) => {
      await links.resetPassword(request.body, visitorOf(request));
      return reset;
    },
  );
}

function addVerification(app: HttpApp, options: LinkApiOptions): void {
  const { links, preValidation, bearer: access, bearerErrors, callerOf } = options;
  app.post(
    routes.verifyEmail,
    {
      access: 'public',
      preValidation,
      schema: {
        tags,
        body: Verification,
        response: { 200: message(verified.message) },
        summary: 'Verify an address by the token of a mailed link',
        description: 'Takes the `token` of the link. It works once.',
      },
      config: { errors: [errors.invalidToken(), errors.tokenExpired(), errors.rateLimited(60)] },
    },
    async (request) => {
      links.verifyEmail(request.body.token);
      return verified;
    },
  );
  app.post(
    routes.sendVerification,
    {
      access,
      preValidation,
      schema: {
        tags,
        response: { 200: message(sent.message) },
        summary: 'Mail another link to verify the address',
        description:
          'Mails a link to the address of the caller, unless it is verified or got too many mails.',
      },
      config: { errors: [...bearerErrors] },
    },
    async (request) => {
      links.sendVerification(callerOf(request).user);
      return sent;
    },
  );
  app.get(
    routes.email,
    {
      access,
      preValidation,
      schema: {
        tags,
        response: { 200: EmailState },
        summary: 'The e-mail address and whether it is verified',
        description: 'Returns the address of the caller. A new or changed address is not verified.',
      },
      config: { errors: [...bearerErrors] },
    },
    async (request) => {
      const { email, isVerified } = callerOf(request).user;
      return { email, verified: isVerified };
    },
  );
}
