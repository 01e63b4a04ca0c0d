;;; profile.el --- print the profile in the file `export' as Emacs reads it

;;; Commentary:
;; A line for each backtrace: its functions, innermost first, with tabs between,
;; and its number.  Emacs' browser must show the sum of these.

;;; Code:
(require 'profiler)

(defvar profile-sum 0 "Of all backtraces.")

(maphash
 (lambda (backtrace number)
   (dolist (function (append backtrace nil))
     (when function
       (princ (format "%s\t" function))))
   (princ (format "%d\n" number))
   (setq profile-sum (+ profile-sum number)))
 (profiler-profile-log (profiler-read-profile "export")))

(let ((shown 0))
  (profiler-find-profile "export")
  (goto-char (point-min))
  (while (re-search-forward "^ *\\([0-9,]+\\) +[0-9]+% " nil t)
    (setq shown (+ shown (string-to-number
                          (replace-regexp-in-string "," "" (match-string 1))))))
  (unless (= shown profile-sum)
    (error "The browser shows %d of %d:\n%s" shown profile-sum (buffer-string))))
;;; profile.el ends here
