;;;; slime.lsp - an ECL with SWANK, the program browsed.lsp, and a server for SLIME,
;;;; whose port the file "port" tells.  SWANK is compiled to bytecodes, which takes
;;;; seconds less.
;;;;
;;;; Usage: ecl --norc --shell slime.lsp SWANK-FOLDER PROGRAM

(defvar *arguments* (rest ext:*unprocessed-ecl-command-args*))

(load (merge-pathnames "swank-loader.lisp" (first *arguments*)) :verbose nil)
(ext:install-bytecodes-compiler)
(swank-loader:init :setup nil :quiet t)
(load (second *arguments*) :verbose nil)
(swank:start-server (merge-pathnames "port" (si:getcwd)) :dont-close t)
(loop (sleep 60))
