/** The operations of `file_ops`: whether each reads or changes its path, and which other arguments it needs. */
export const FILE_OPERATIONS = {
  read: { touches: "reads", needs: [] },
  list: { touches: "reads", needs: [] },
  write: { touches: "writes", needs: ["content"] },
  create: { touches: "writes", needs: ["content"] },
  overwrite: { touches: "writes", needs: ["content"] },
  append: { touches: "writes", needs: ["content"] },
  edit: { touches: "writes", needs: ["old_text", "new_text"] },
  create_directory: { touches: "writes", needs: [] },
  copy: { touches: "reads", needs: ["to"] },
  move: { touches: "writes", needs: ["to"] },
  delete: { touches: "writes", needs: [] },
} as const;
export type FileOperation = keyof typeof FILE_OPERATIONS;
