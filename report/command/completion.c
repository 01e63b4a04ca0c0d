/* completion.c - the command `mprof completion`: a shell's completion, made of
 * the rows that the commands take their options from. */

#include "report/command/command.h"

/* The first line of HELP, without what a shell would interpret. */
static void print_line(FILE *out, const char *help) {
    for (; *help && *help != '\n'; help++)
        putc(strchr("'\"`$\\[]:", *help) ? ' ' : *help, out);
}

/* The option behind O, or the first one, that COMMAND shows; NULL: the last. */
static const struct report__option *next(const struct report__option *o,
                                         unsigned command) {
    for (o = o ? o + 1 : report__option_list; o->name; o++)
        if (o->commands >> command & 1 && *o->help)
            return o;
    return NULL;
}

static bool takes_value(const struct report__option *option) {
    return option->value && *option->value != '[';
}

/* The words that the value of OPTION is one of. */
static const char *words_of(const struct report__option *option) {
    return option->words + (*option->words == ' ');
}

static void print_commands(FILE *out, const char *between) {
    for (int i = 0; i < MPROF_COMMANDS; i++)
        fprintf(out, "%s%s", i > 0 ? between : "", report__commands[i].name);
}

static void print_bash(FILE *out) {
    fputs("# bash completion for mprof\n"
          "_mprof() {\n"
          "    local word=$2 command=report options= values= i\n"
          "    local line=${COMP_LINE:0:COMP_POINT}\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n        ",
          out);
    print_commands(out, " | ");
    fputs(") command=${COMP_WORDS[i]} && break ;;\n        esac\n    done\n"
          "    case $command in\n",
          out);
    for (unsigned i = 0; i < MPROF_COMMANDS; i++) {
        fprintf(out, "    %s) options='", report__commands[i].name);
        for (const struct report__option *o = NULL; (o = next(o, i));)
            fprintf(out, " --%s%s", o->name, takes_value(o) ? "=" : "");
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $command:${line##* } in\n", out);
    for (unsigned i = 0; i < MPROF_COMMANDS; i++)
        for (const struct report__option *o = NULL; (o = next(o, i));)
            if (o->words)
                fprintf(out, "    %s:--%s=*) values='%s' ;;\n",
                        report__commands[i].name, o->name, words_of(o));
    fputs("    esac\n"
          "    COMPREPLY=()\n"
          "    if [[ $values ]]; then\n"
          "        [[ $word == = ]] && word=\n"
          "        COMPREPLY=($(compgen -W \"$values\" -- \"${word##*=}\"))\n"
          "    elif [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "        [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && "
          "compopt -o nospace\n"
          "    elif ((COMP_CWORD == 1)) || [[ $command == help ]]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    print_commands(out, " ");
    fputs("' -- \"$word\"))\n"
          "    elif [[ $command == completion ]]; then\n"
          "        COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\"))\n"
          "    fi\n"
          "}\n"
          "complete -o bashdefault -o default -F _mprof mprof\n",
          out);
}

static void print_zsh(FILE *out) {
    fputs("#compdef mprof\n"
          "_mprof() {\n"
          "    local command=report\n"
          "    local -a commands=(\n",
          out);
    for (int i = 0; i < MPROF_COMMANDS; i++)
        fprintf(out, "        '%s:%s'\n", report__commands[i].name,
                report__commands[i].purpose);
    fputs("    )\n"
          "    if ((CURRENT == 2)) && [[ $PREFIX != -* ]]; then\n"
          "        _describe command commands\n"
          "        _files\n"
          "        return\n"
          "    fi\n"
          "    if ((${commands[(I)$words[2]:*]})); then\n"
          "        command=$words[2]\n"
          "        shift words\n"
          "        ((CURRENT--))\n"
          "    fi\n"
          "    case $command in\n",
          out);
    for (unsigned i = 0; i < MPROF_COMMANDS; i++) {
        fprintf(out, "    %s)\n        _arguments", report__commands[i].name);
        for (const struct report__option *o = NULL; (o = next(o, i));) {
            fprintf(out, " \\\n            '--%s%s[", o->name,
                    takes_value(o) ? "=" : "");
            print_line(out, o->help);
            putc(']', out);
            if (o->words)
                fprintf(out, ":%s:(%s)", o->what, words_of(o));
            else if (takes_value(o))
                fprintf(out, ":%s:%s", o->name,
                        strcmp(o->value, "FILE") == 0 ? "_files" : "");
            putc('\'', out);
        }
        fputs(i == MPROF_COMMAND_HELP ? " \\\n            '*:command:(("
              : i == MPROF_COMMAND_COMPLETION
                  ? " \\\n            '1:shell:(bash zsh fish)'"
              : i == MPROF_COMMAND_RUN ? " \\\n            '*:: :_normal'"
                                       : " \\\n            '*:file:_files'",
              out);
        if (i == MPROF_COMMAND_HELP)
            print_commands(out, " ");
        fputs(i == MPROF_COMMAND_HELP ? "))'\n        ;;\n" : "\n        ;;\n",
              out);
    }
    fputs("    esac\n}\n_mprof \"$@\"\n", out);
}

static void print_fish(FILE *out) {
    static const char mprof[] = "complete -c mprof";

    fputs("# fish completion for mprof\n", out);
    for (unsigned i = 0; i < MPROF_COMMANDS; i++) {
        const char *name = report__commands[i].name;
        fprintf(out, "%s -n __fish_use_subcommand -a %s -d '%s'\n", mprof, name,
                report__commands[i].purpose);
        for (const struct report__option *o = NULL; (o = next(o, i));) {
            fprintf(out, "%s -n '__fish_seen_subcommand_from %s%s' -l %s%s",
                    mprof, name, i == 0 ? "; or __fish_use_subcommand" : "",
                    o->name, takes_value(o) ? " -r" : "");
            if (o->words)
                fprintf(out, " -f -a '%s'", words_of(o));
            fputs(" -d '", out);
            print_line(out, o->help);
            fputs("'\n", out);
        }
    }
    fprintf(out,
            "%s -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh "
            "fish'\n",
            mprof);
}

int report__run_completion(struct report__call *call) {
    static void (*const print[])(FILE *) = {print_bash, print_zsh, print_fish};
    static const char *const shells[] = {"bash", "zsh", "fish"};
    const struct report__options *o = &call->options;

    for (int i = 0; i < 3 && o->file_count == 1; i++)
        if (strcmp(o->files[0], shells[i]) == 0) {
            if (report__begin_output(call))
                print[i](call->output.stream);
            return 0;
        }
    call->error = "completion: name a shell: bash, zsh or fish";
    return 2;
}
