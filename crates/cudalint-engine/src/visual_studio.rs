//! What the projects of Visual Studio say: what they make, and devices.

use std::path::Path;

/// Whether a file is such a project.
pub(crate) fn is_project(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "vcxproj")
}

/// Whether each configuration of a project of Visual Studio makes a program.
pub(crate) fn makes_program(text: &str) -> bool {
    let mut kinds = text.split("<ConfigurationType>").skip(1).peekable();
    kinds.peek().is_some() && kinds.all(|rest| rest.trim_start().starts_with("Application"))
}

/// The devices that a project generates code for in its configurations, by the number of the virtual architecture
/// (`<CodeGeneration>compute_30,sm_30</CodeGeneration>`); 0 for one that is not written out. Code of one that a driver translates behaves as
/// the virtual one says.
pub(crate) fn devices(text: &str) -> impl Iterator<Item = u32> {
    let lists = text.split("<CodeGeneration>").skip(1).filter_map(|rest| rest.split("</CodeGeneration>").next());
    let pairs = lists.flat_map(|list| list.split(';')).map(str::trim);
    // What is taken over from elsewhere is written there.
    pairs.filter(|pair| !pair.is_empty() && *pair != "%(CodeGeneration)").map(|pair| {
        let number = pair.strip_prefix("compute_").and_then(|rest| rest.split(',').next());
        number.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::{devices, makes_program};

    #[test]
    fn programs_of_visual_studio() {
        let kind = |one: &str, other: &str| {
            makes_program(&format!(
                "<ConfigurationType>{one}</ConfigurationType>\n<ConfigurationType>{other}</ConfigurationType>\n"
            ))
        };
        assert!(kind("Application", "Application"));
        assert!(!kind("Application", "DynamicLibrary") && !makes_program("<Project/>"));
    }

    #[test]
    fn devices_of_visual_studio() {
        for (list, expected) in [
            ("compute_30,sm_30", &[30][..]),
            ("compute_20,sm_20;compute_75,sm_75;%(CodeGeneration)", &[20, 75]),
            ("$(Devices)", &[0]),
            ("%(CodeGeneration)", &[]),
        ] {
            let text = format!("<CudaCompile><CodeGeneration>{list}</CodeGeneration></CudaCompile>");
            assert_eq!(devices(&text).collect::<Vec<_>>(), expected, "{list}");
        }
        assert_eq!(devices("<Project/>").count(), 0);
    }
}
