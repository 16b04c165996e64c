-- Before the first `hearthpay migrate`: the owner of the database, and the logins of the two roles that it makes rules
-- for. Passwords come from the environment, so none is in this file.
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
\getenv worker_password WORKER_PASSWORD
CREATE ROLE landlord LOGIN CREATEROLE PASSWORD :'owner_password';
ALTER DATABASE hearthpay OWNER TO landlord;
-- Made by the owner, who may then act as them.
SET ROLE landlord;
CREATE ROLE hearthpay_service LOGIN NOINHERIT PASSWORD :'service_password';
CREATE ROLE hearthpay_worker LOGIN NOINHERIT PASSWORD :'worker_password';
