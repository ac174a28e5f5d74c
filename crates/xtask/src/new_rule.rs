//! Writes the two files of a new rule.

use cudalint_pages::derive::{GROUPS, sync};
use std::fs;
use std::path::Path;

/// Makes `rules/<group>/<name>.rs` and `.md` and brings the derived files up to date.
///
/// # Errors
/// When the group or name is not well formed, the rule exists, or a file cannot be written.
pub fn create(root: &Path, group: &str, name: &str) -> Result<(), String> {
    if !GROUPS.contains(&group) {
        return Err(format!("no group `{group}`: choose one of {}", GROUPS.join(", ")));
    }
    let kebab = !name.is_empty()
        && name
            .split('-')
            .all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
    if !kebab {
        return Err(format!("`{name}` is not kebab-case, such as `copy-exceeds-allocation`"));
    }
    let code = root.join("rules").join(group).join(name).with_extension("rs");
    let page = code.with_extension("md");
    if code.exists() || page.exists() {
        return Err(format!("{} exists already", code.display()));
    }
    let mut capital = group.to_owned();
    if let Some(first) = capital.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let rust = CODE.replace("{name}", name).replace("{Group}", &capital);
    fs::create_dir_all(code.parent().unwrap_or(root)).map_err(|error| error.to_string())?;
    fs::write(&code, rust).map_err(|error| format!("{}: {error}", code.display()))?;
    fs::write(&page, PAGE.replace("{name}", name)).map_err(|error| format!("{}: {error}", page.display()))?;
    sync(root).map_err(|error| error.to_string())?;
    println!("wrote {} and {}", code.display(), page.display());
    Ok(())
}

const CODE: &str = r#"//! Says in one sentence what this rule finds.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::Confidence;

/// The rule.
pub static RULE: Rule = rule!("{name}", {Group}, None)
    .summary("One sentence that says what is wrong.")
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let _ = (context, sink);
}
"#;

const PAGE: &str = "# {name}

One sentence that says what is wrong.

## Why is this bad?

What users see, and what it costs them.

## Example

```cuda error
void bad(); // error
```

## Use instead

```cuda clean
void good();
```

## Not reported

Code that looks like it and is right, one fence a shape.

## How it is confirmed

## Known limits

## References
";
