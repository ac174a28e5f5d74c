//! The modules of a crate: what each defines, imports and names.

use cudalint_program::ids;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree, Visibility};
use typed_index_collections::TiVec;

ids! {
    /// A module of a crate.
    ModuleIndex;
}

/// A crate, read from its root file.
pub struct Crate {
    /// Its modules, the root first.
    pub modules: TiVec<ModuleIndex, Module>,
}

/// One module.
pub struct Module {
    /// As code names it: `crate::a::b`.
    pub path: String,
    /// The module around it.
    pub parent: Option<ModuleIndex>,
    /// Modules in it.
    pub children: BTreeMap<String, ModuleIndex>,
    /// What it defines.
    pub items: BTreeSet<String>,
    /// Names that stand where a macro may define them.
    pub made: BTreeSet<String>,
    /// What `use` brings, under which name.
    pub imports: BTreeMap<String, Vec<String>>,
    /// `use path::*`.
    pub globs: Vec<Vec<String>>,
    /// Paths that its code names, each with its line. What it only hands on is not among them.
    pub paths: BTreeMap<Vec<String>, usize>,
    /// Its file.
    pub file: PathBuf,
}

impl Crate {
    /// Reads the crate with this root file.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut read = Self { modules: TiVec::new() };
        let folder = root.parent().unwrap_or(Path::new(""));
        let top = read.add("crate".to_owned(), None, root);
        let mut open = vec![(top, root.to_path_buf(), folder.to_path_buf())];
        while let Some((module, file, folder)) = open.pop() {
            let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let items = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?.items;
            read.items(module, &items, &file, &folder, &mut open)?;
        }
        Ok(read)
    }

    fn add(&mut self, path: String, parent: Option<ModuleIndex>, file: &Path) -> ModuleIndex {
        self.modules.push_and_get_key(Module {
            path,
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            made: BTreeSet::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            paths: BTreeMap::new(),
            file: file.to_path_buf(),
        })
    }

    /// The items of one module; modules with a file of their own go to `open`, with the folder that their children are in.
    fn items(
        &mut self,
        module: ModuleIndex,
        items: &[Item],
        file: &Path,
        folder: &Path,
        open: &mut Vec<(ModuleIndex, PathBuf, PathBuf)>,
    ) -> Result<(), String> {
        for item in items {
            let Item::Mod(inner) = item else {
                Reader { module: &mut self.modules[module] }.item(item);
                continue;
            };
            if is_test(&inner.attrs) {
                continue;
            }
            let name = inner.ident.to_string();
            let path = format!("{}::{name}", self.modules[module].path);
            let child = self.add(path, Some(module), file);
            self.modules[module].children.insert(name.clone(), child);
            let inside = folder.join(&name);
            if let Some((_, items)) = &inner.content {
                self.items(child, items, file, &inside, open)?;
                continue;
            }
            let written = stated_path(&inner.attrs).map(|path| file.parent().unwrap_or(folder).join(path));
            let places = [written, Some(folder.join(format!("{name}.rs"))), Some(inside.join("mod.rs"))];
            let Some(place) = places.into_iter().flatten().find(|place| place.is_file()) else {
                return Err(format!("{}: no file for the module {name}", file.display()));
            };
            self.modules[child].file.clone_from(&place);
            open.push((child, place, inside));
        }
        Ok(())
    }
}

/// The name of the package whose root file this is.
pub fn package(root: &Path) -> Result<String, String> {
    let folder = root.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    let file = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let manifest: toml::Table = text.parse().map_err(|error| format!("{}: {error}", file.display()))?;
    let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
    name.map(str::to_owned).ok_or_else(|| format!("{}: no name", file.display()))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    })
}

/// `#[path = "…"]`.
fn stated_path(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

struct Reader<'a> {
    module: &'a mut Module,
}

impl Reader<'_> {
    fn item(&mut self, item: &Item) {
        let (name, attributes) = match item {
            Item::Const(item) => (Some(&item.ident), &item.attrs),
            Item::Enum(item) => (Some(&item.ident), &item.attrs),
            Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            Item::Static(item) => (Some(&item.ident), &item.attrs),
            Item::Struct(item) => (Some(&item.ident), &item.attrs),
            Item::Trait(item) => (Some(&item.ident), &item.attrs),
            Item::Type(item) => (Some(&item.ident), &item.attrs),
            Item::Union(item) => (Some(&item.ident), &item.attrs),
            Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
            Item::Impl(item) => (None, &item.attrs),
            Item::Use(item) => (None, &item.attrs),
            _ => return,
        };
        if is_test(attributes) {
            return;
        }
        self.module.items.extend(name.map(ToString::to_string));
        if let Item::Macro(item) = item
            && item.ident.is_none()
        {
            names(item.mac.tokens.clone(), &mut self.module.made);
        }
        self.visit_item(item);
    }

    fn path(&mut self, path: Vec<String>, line: usize) {
        self.module.paths.entry(path).or_insert(line);
    }

    /// One `use`. Its names count as used here unless they are only handed on.
    fn import(&mut self, tree: &UseTree, before: &[String], handed_on: bool) {
        let with = |name: &syn::Ident| {
            let mut path = before.to_vec();
            if name != "self" || before.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        let (name, path, line) = match tree {
            UseTree::Path(inner) => return self.import(&inner.tree, &with(&inner.ident), handed_on),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, before, handed_on)),
            UseTree::Glob(_) => return self.module.globs.push(before.to_vec()),
            UseTree::Name(name) => (name.ident.to_string(), with(&name.ident), name.ident.span().start().line),
            UseTree::Rename(name) => (name.rename.to_string(), with(&name.ident), name.ident.span().start().line),
        };
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
        if !handed_on {
            self.path(path.clone(), line);
        }
        self.module.imports.insert(name, path);
    }

    /// Paths in the arguments of a macro, which may be anything.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut line = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(name) if path.is_empty() || colons == 2 => {
                    path.push(name.to_string());
                    (colons, line) = (0, name.span().start().line);
                    continue;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && !path.is_empty() && colons < 2 => {
                    colons += 1;
                    continue;
                }
                _ => {}
            }
            if !path.is_empty() {
                self.path(std::mem::take(&mut path), line);
            }
            colons = 0;
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) => (path, line) = (vec![name.to_string()], name.span().start().line),
                _ => {}
            }
        }
        if !path.is_empty() {
            self.path(path, line);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        if path.leading_colon.is_none() {
            self.path(segments, line);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[], !matches!(item.vis, Visibility::Inherited));
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        visit::visit_macro(self, mac);
        self.tokens(mac.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

/// All names of a macro's arguments.
fn names(tokens: TokenStream, out: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => _ = out.insert(name.to_string()),
            TokenTree::Group(group) => names(group.stream(), out),
            _ => {}
        }
    }
}
