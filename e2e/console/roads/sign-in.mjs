// The first administrator follows the link that the service prints, sets up an authenticator, and signs in again.

const EMAIL = "robin@ops.example.com";

export default async ({ stage, operator }) => {
  await operator.opens("/failures");
  await operator.sees("Sign in to the console", "sign-in");

  await operator.opens(stage.firstLink());
  await operator.sees("The first administrator", "first");
  await operator.types("Your e-mail address", EMAIL);
  await operator.types("Your name", "Robin Example");
  await operator.types("Password", operator.password);
  await operator.types("The same password again", "something else");
  await operator.presses("Set the password", 422);
  await operator.reads("The two passwords differ. Type the same one twice.");
  await operator.sees("The first administrator", "first-wrong");
  await operator.choosesPassword();

  await operator.sees("Set up your authenticator", "enrol");
  await operator.setsUpAuthenticator();
  await operator.types("The six digits that it shows now", "000000");
  await operator.presses("Go on", 422);
  await operator.reads("This code is not right");
  await operator.sees("Set up your authenticator", "enrol-wrong");
  await operator.typesCode("The six digits that it shows now");
  await operator.presses("Go on");
  await operator.sees("Your recovery codes", "codes");
  const recovery = await operator.shown(".codes code");
  await operator.follows("I have kept them");
  await operator.reads("Nothing needs you");
  await operator.sees("Today", "today-quiet");

  await operator.opens(stage.firstLink(), 422);
  await operator.reads("This link does not work any more");

  await operator.follows("Today");
  await operator.follows("Your account");
  await operator.reads("Your role is admin", "10 codes are left");
  await operator.sees("Your account", "account");
  await operator.presses("Sign out");
  await operator.opens("/merchants");
  await operator.sees("Sign in to the console", "signed-out");

  await operator.types("E-mail address", EMAIL);
  await operator.types("Password", "not the right one");
  await operator.presses("Go on", 422);
  await operator.reads("The e-mail address or the password is not right.", "set anew by an administrator");
  await operator.sees("Sign in to the console", "sign-in-wrong");
  await operator.types("Password", operator.password);
  await operator.presses("Go on");
  await operator.sees("Confirm that it is you", "code");
  await operator.typesCode("Six digits from your authenticator");
  await operator.presses("Sign in");
  // It leads to the page that was asked for.
  await operator.reads("There are no merchants yet");
  await operator.sees("Merchants", "merchants-none");

  await operator.follows("Your account");
  await operator.presses("Sign out");
  await operator.types("E-mail address", EMAIL);
  await operator.types("Password", operator.password);
  await operator.presses("Go on");
  await operator.follows("Use a recovery code");
  await operator.sees("Confirm that it is you", "recovery");
  await operator.types("One of your recovery codes", recovery);
  await operator.presses("Sign in");
  await operator.reads("9 codes are left");
};
