//! How the projects of findings are built and run: as the command line says, else as the settings say, else as build files
//! suggest.

use crate::args::VerifyArgs;
use crate::check;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_engine::Engine;
use cudalint_engine::settings::VerifySettings;
use cudalint_verify::project::{base_of, suggested};
use cudalint_verify::scenario::Project;
use std::collections::BTreeMap;

/// The project of each file that has findings.
pub struct Projects(BTreeMap<String, Project>);

impl Projects {
    /// Finds those of these files, whose paths start from `root`.
    ///
    /// # Errors
    /// In words, when settings are wrong.
    pub fn of<'p>(
        engine: &Engine,
        args: &VerifyArgs,
        root: &Utf8Path,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<Self, String> {
        let mut found: BTreeMap<String, Project> = BTreeMap::new();
        let real = root.canonicalize_utf8().unwrap_or_else(|_| root.to_owned());
        for path in paths {
            if !found.contains_key(path)
                && let Some(project) = of_file(engine, args, &real, path)?
            {
                found.insert(path.to_owned(), project);
            }
        }
        // One copy serves all files of a folder's project.
        let mut bases: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
        for project in found.values() {
            let base = bases.entry(project.folder.clone()).or_insert_with(|| project.base.clone());
            if base.starts_with(&project.base) {
                base.clone_from(&project.base);
            }
        }
        for project in found.values_mut() {
            project.base = bases.get(&project.folder).unwrap_or(&project.base).clone();
        }
        Ok(Self(found))
    }

    /// The project of a file.
    pub fn of_path(&self, path: &str) -> Option<Project> {
        self.0.get(path).cloned()
    }
}

fn of_file(engine: &Engine, args: &VerifyArgs, root: &Utf8Path, path: &str) -> Result<Option<Project>, String> {
    if !args.run.is_empty() {
        return Ok(Some(Project {
            folder: root.to_owned(),
            base: base_of(root, root, &root.join(path)),
            root: root.to_owned(),
            clean: args.clean.clone(),
            build: args.build.clone(),
            run: args.run.clone(),
            given: true,
            replaced: None,
        }));
    }
    let file = root.join(path);
    let Some(folder) = file.parent() else { return Ok(None) };
    let request = check::project(&args.check);
    let said = engine.verified_by(folder.as_std_path(), &request).map_err(|error| error.to_string())?;
    let of_settings =
        said.and_then(|(base, settings)| of_settings(&settings, &Utf8PathBuf::from_path_buf(base).ok()?, &file, root));
    Ok(of_settings.or_else(|| suggested(root, path)))
}

/// What settings at `base` say of a file.
fn of_settings(settings: &VerifySettings, base: &Utf8Path, file: &Utf8Path, root: &Utf8Path) -> Option<Project> {
    let inner = settings.folder.iter().find(|folder| file.starts_with(base.join(&folder.path)));
    let (folder, clean, build, run) = match inner {
        Some(inner) => (base.join(&inner.path), &inner.clean, &inner.build, &inner.run),
        None => (base.to_owned(), &settings.clean, &settings.build, &settings.run),
    };
    if run.is_empty() {
        return None;
    }
    Some(Project {
        base: base_of(&folder, root, file),
        folder,
        root: root.to_owned(),
        clean: clean.clone(),
        build: build.clone(),
        run: run.clone(),
        given: true,
        replaced: None,
    })
}
