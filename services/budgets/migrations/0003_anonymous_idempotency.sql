-- Wrong passwords are counted in auth_lockout (kit/accounts), beside those of staff.
DROP TABLE login_attempt;
