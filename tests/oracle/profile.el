;;; profile.el --- print the profile in the file `export' as Emacs reads it

;;; Commentary:
;; A line for each backtrace: its functions, innermost first, with tabs between,
;; and its number.

;;; Code:
(require 'profiler)
(maphash
 (lambda (backtrace number)
   (dolist (function (append backtrace nil))
     (when function
       (princ (format "%s\t" function))))
   (princ (format "%d\n" number)))
 (profiler-profile-log (profiler-read-profile "export")))
;;; profile.el ends here
