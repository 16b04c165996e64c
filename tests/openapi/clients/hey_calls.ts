// Five calls with the client that @hey-api/openapi-ts makes: `node hey_calls.js ADDRESS KEY`.
import { calculate, createEmployee, createEmployer, listPayrolls, previewPayroll, runPayroll } from "./hey";
import type { PayrollRequest } from "./hey";
import { client } from "./hey/client.gen";

declare const process: { argv: string[]; exitCode?: number };

const [, , baseUrl, key] = process.argv;
client.setConfig({ baseUrl: baseUrl!, auth: (scheme) => (scheme.scheme === "bearer" ? key : undefined) });

async function call(): Promise<void> {
  const estimate = await calculate({ body: { state: "CA", annual_wages: 35000 }, throwOnError: true });
  if (!(estimate.data.data.employer_taxes.total > 0)) throw new Error("no taxes");
  const household = await createEmployer({
    body: { first_name: "Maria", last_name: "Lopez", state: "CA", email: "maria@example.com" },
    throwOnError: true,
  });
  const employer_id = household.data.data.id;
  const employee = await createEmployee({
    headers: { "Idempotency-Key": "rosa" },
    body: { first_name: "Rosa", last_name: "Diaz", pay_rate: 28.5, start_date: "2026-01-05", employer_id },
    throwOnError: true,
  });
  const payroll: PayrollRequest = {
    pay_period_start: "2026-11-02",
    pay_period_end: "2026-11-15",
    pay_frequency: "biweekly",
    pay_date: "2026-11-20",
    employer_id,
    employees: [{ employee_id: employee.data.data.id, regular_hours: 80, payment_method: "check" }],
  };
  const preview = await previewPayroll({ body: payroll, throwOnError: true });
  const run = await runPayroll({ body: payroll, throwOnError: true });
  const { total_net_pay } = run.data.data.totals;
  if (!(total_net_pay > 0 && total_net_pay === preview.data.data.totals.total_net_pay)) throw new Error("another net pay");
  const listed = await listPayrolls({ query: { employer_id }, throwOnError: true });
  if (listed.data.data[0]?.payroll_id !== run.data.data.payroll_id) throw new Error("another payroll");
  const { error } = await previewPayroll({ body: { ...payroll, employees: [] } });
  if (error?.error.code !== "validation_error") throw new Error("not refused");
}

call().catch((cause) => {
  console.error(cause);
  process.exitCode = 1;
});
