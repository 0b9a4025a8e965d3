// The smallest bot that answers with a model, made with grammY: what `cargo bench --bench report` measures Figaro beside.
// It keeps nothing: no history, no queue that outlives it, no drafts. Settings come from the environment.
import { Bot } from "grammy";

const { TELEGRAM_BOT_TOKEN: token, TELEGRAM_API_URL: apiRoot, MODEL_URL: model } = process.env;
const bot = new Bot(token, { client: { apiRoot } });

bot.on("message:text", async (context) => {
  const response = await fetch(`${model}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-offline" },
    body: JSON.stringify({ model: "offline", messages: [{ role: "user", content: context.message.text }] }),
  });
  const answer = await response.json();
  await context.reply(answer.choices[0].message.content);
});

// Without awaiting one update before the next, as its guide has it for bots that wait for others.
bot.catch((error) => console.error(error.error));
await bot.init();
let offset = 0;
for (;;) {
  const updates = await bot.api.getUpdates({ offset, timeout: 30 });
  for (const update of updates) {
    offset = update.update_id + 1;
    void bot.handleUpdate(update).catch((error) => console.error(error));
  }
}
