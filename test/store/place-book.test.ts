import { countInBook, createPlaceBook } from "../../src/store/memory/place-book.ts";
import { describePlaces } from "./place-count-contract.ts";

describePlaces("the book of a process", async () => {
  const book = createPlaceBook<string>();
  return {
    first: countInBook(book, "first"),
    second: countInBook(book, "second"),
    killFirst: async () => book.forget("first"),
  };
});
