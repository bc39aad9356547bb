/** Items as journals and shelves have them. */

import { storedList, storedObject } from "../base/stored.ts";
import type { Item } from "./items.ts";

export const STORED_ITEM = storedObject<Item>("an item", ["type"]);
export const STORED_ITEMS = storedList<Item>("a list of items", ["type"]);
