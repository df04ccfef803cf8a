-- The overview shows the latest changes of each model, and no longer those of one user.
CREATE INDEX admin_log_model ON admin_log (model, id);
DROP INDEX admin_log_user;
