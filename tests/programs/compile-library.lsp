;;;; compile-library.lsp - a library in one compiled file.
;;;;
;;;; Usage: ecl --norc --shell compile-library.lsp SYSTEM SOURCES FOLDER
;;;;
;;;; makes FOLDER/SYSTEM.fas of the ASDF system SYSTEM, which is somewhere in the
;;;; folder SOURCES with all that it needs.  Whatever else is written on the way
;;;; goes below FOLDER as well, whoever calls.

(require :asdf)

(destructuring-bind (system sources folder)
    (last ext:*unprocessed-ecl-command-args* 3)
  (flet ((folder (name)
           (concatenate 'string (string-right-trim "/" name) "/")))
    (asdf:initialize-source-registry
     `(:source-registry (:tree ,(folder sources))
                        :ignore-inherited-configuration))
    (asdf:initialize-output-translations
     `(:output-translations (t (,(folder folder) "objects" :**/ :*.*.*))
                            :disable-cache :ignore-inherited-configuration))
    (asdf:operate 'asdf:monolithic-compile-bundle-op system)
    (rename-file
     (first (asdf:output-files 'asdf:monolithic-compile-bundle-op system))
     (concatenate 'string (folder folder) system ".fas"))))
