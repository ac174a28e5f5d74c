//! Node kinds and fields of the two grammars as enums, so that a typo is a build error and a kind test is an integer
//! compare. A test checks that every name here exists in its grammar.

use std::sync::OnceLock;
use tree_sitter::{Language, Node};

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident, $table:ident, $of:ident, $language:expr; $($variant:ident = $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* Other }

        impl $name {
            /// Every kind with its name in the grammar.
            pub const ALL: &[($name, &'static str)] = &[$(($name::$variant, $text),)*];
        }

        static $table: OnceLock<Vec<$name>> = OnceLock::new();

        /// The kind of a node; `Other` for kinds that cudalint does not name.
        pub fn $of(node: Node<'_>) -> $name {
            let table = $table.get_or_init(|| {
                let language: Language = $language;
                (0..language.node_kind_count())
                    .map(|id| {
                        let text = language.node_kind_for_id(id as u16).unwrap_or("");
                        let named = language.node_kind_is_named(id as u16);
                        $name::ALL.iter().find(|(_, name)| *name == text && (named || !text.starts_with(|c: char| c.is_ascii_alphabetic()))).map_or($name::Other, |(kind, _)| *kind)
                    })
                    .collect()
            });
            table.get(usize::from(node.kind_id())).copied().unwrap_or($name::Other)
        }
    };
}

/// The CUDA C++ grammar.
pub fn cuda_language() -> Language {
    tree_sitter_cuda::LANGUAGE.into()
}

/// The Python grammar.
pub fn python_language() -> Language {
    tree_sitter_python::LANGUAGE.into()
}

kinds! {
    /// Kinds of nodes in CUDA C++ trees.
    CudaKind, CUDA_KINDS, cuda_kind, cuda_language();
    AbstractArrayDeclarator = "abstract_array_declarator",
    AbstractFunctionDeclarator = "abstract_function_declarator",
    AbstractPointerDeclarator = "abstract_pointer_declarator",
    AbstractReferenceDeclarator = "abstract_reference_declarator",
    AccessSpecifier = "access_specifier",
    AliasDeclaration = "alias_declaration",
    AlignasQualifier = "alignas_qualifier",
    AlignofExpression = "alignof_expression",
    ArgumentList = "argument_list",
    ArrayDeclarator = "array_declarator",
    AssignmentExpression = "assignment_expression",
    AttributeDeclaration = "attribute_declaration",
    AttributedStatement = "attributed_statement",
    AutoType = "auto",
    BaseClassClause = "base_class_clause",
    BinaryExpression = "binary_expression",
    BreakStatement = "break_statement",
    CallExpression = "call_expression",
    CaseStatement = "case_statement",
    CastExpression = "cast_expression",
    CatchClause = "catch_clause",
    CharLiteral = "char_literal",
    ClassSpecifier = "class_specifier",
    CommaExpression = "comma_expression",
    Comment = "comment",
    CompoundLiteralExpression = "compound_literal_expression",
    CompoundStatement = "compound_statement",
    ConcatenatedString = "concatenated_string",
    ConditionalExpression = "conditional_expression",
    ConditionClause = "condition_clause",
    ContinueStatement = "continue_statement",
    Declaration = "declaration",
    DeclarationList = "declaration_list",
    Decltype = "decltype",
    DeleteExpression = "delete_expression",
    DependentName = "dependent_name",
    DependentType = "dependent_type",
    DestructorName = "destructor_name",
    DoStatement = "do_statement",
    ElseClause = "else_clause",
    EnumSpecifier = "enum_specifier",
    Enumerator = "enumerator",
    EnumeratorList = "enumerator_list",
    Error = "ERROR",
    ExplicitFunctionSpecifier = "explicit_function_specifier",
    ExpressionStatement = "expression_statement",
    False = "false",
    FieldDeclaration = "field_declaration",
    FieldDeclarationList = "field_declaration_list",
    FieldDesignator = "field_designator",
    FieldExpression = "field_expression",
    FieldIdentifier = "field_identifier",
    FieldInitializer = "field_initializer",
    FieldInitializerList = "field_initializer_list",
    FoldExpression = "fold_expression",
    ForRangeLoop = "for_range_loop",
    ForStatement = "for_statement",
    FriendDeclaration = "friend_declaration",
    FunctionDeclarator = "function_declarator",
    FunctionDefinition = "function_definition",
    GotoStatement = "goto_statement",
    GnuAsmExpression = "gnu_asm_expression",
    Identifier = "identifier",
    IfStatement = "if_statement",
    InitDeclarator = "init_declarator",
    InitializerList = "initializer_list",
    InitializerPair = "initializer_pair",
    InlineMethodDefinition = "inline_method_definition",
    KernelCallSyntax = "kernel_call_syntax",
    LabeledStatement = "labeled_statement",
    LambdaCaptureSpecifier = "lambda_capture_specifier",
    LambdaExpression = "lambda_expression",
    LaunchBounds = "launch_bounds",
    LinkageSpecification = "linkage_specification",
    NamespaceAliasDefinition = "namespace_alias_definition",
    NamespaceDefinition = "namespace_definition",
    NamespaceIdentifier = "namespace_identifier",
    NewDeclarator = "new_declarator",
    NewExpression = "new_expression",
    Null = "null",
    NumberLiteral = "number_literal",
    OperatorCast = "operator_cast",
    OperatorName = "operator_name",
    OptionalParameterDeclaration = "optional_parameter_declaration",
    OptionalTypeParameterDeclaration = "optional_type_parameter_declaration",
    ParameterDeclaration = "parameter_declaration",
    ParameterList = "parameter_list",
    ParenthesizedDeclarator = "parenthesized_declarator",
    ParenthesizedExpression = "parenthesized_expression",
    PlaceholderTypeSpecifier = "placeholder_type_specifier",
    PointerDeclarator = "pointer_declarator",
    PointerExpression = "pointer_expression",
    PreprocCall = "preproc_call",
    PreprocDef = "preproc_def",
    PreprocElif = "preproc_elif",
    PreprocElifdef = "preproc_elifdef",
    PreprocElse = "preproc_else",
    PreprocFunctionDef = "preproc_function_def",
    PreprocIf = "preproc_if",
    PreprocIfdef = "preproc_ifdef",
    PreprocInclude = "preproc_include",
    PrimitiveType = "primitive_type",
    QualifiedIdentifier = "qualified_identifier",
    RawStringLiteral = "raw_string_literal",
    ReferenceDeclarator = "reference_declarator",
    ReturnStatement = "return_statement",
    SizedTypeSpecifier = "sized_type_specifier",
    SizeofExpression = "sizeof_expression",
    StaticAssertDeclaration = "static_assert_declaration",
    StorageClassSpecifier = "storage_class_specifier",
    StringLiteral = "string_literal",
    StructSpecifier = "struct_specifier",
    StructuredBindingDeclarator = "structured_binding_declarator",
    SubscriptArgumentList = "subscript_argument_list",
    SubscriptExpression = "subscript_expression",
    SwitchStatement = "switch_statement",
    TemplateArgumentList = "template_argument_list",
    TemplateDeclaration = "template_declaration",
    TemplateFunction = "template_function",
    TemplateInstantiation = "template_instantiation",
    TemplateMethod = "template_method",
    TemplateParameterList = "template_parameter_list",
    TemplateType = "template_type",
    This = "this",
    ThrowStatement = "throw_statement",
    TranslationUnit = "translation_unit",
    True = "true",
    TryStatement = "try_statement",
    TypeDefinition = "type_definition",
    TypeDescriptor = "type_descriptor",
    TypeIdentifier = "type_identifier",
    TypeParameterDeclaration = "type_parameter_declaration",
    TypeQualifier = "type_qualifier",
    UnaryExpression = "unary_expression",
    UnionSpecifier = "union_specifier",
    UpdateExpression = "update_expression",
    UserDefinedLiteral = "user_defined_literal",
    UsingDeclaration = "using_declaration",
    VariadicParameterDeclaration = "variadic_parameter_declaration",
    VirtualSpecifier = "virtual",
    WhileStatement = "while_statement",
}

kinds! {
    /// Kinds of nodes in Python trees.
    PythonKind, PYTHON_KINDS, python_kind, python_language();
    AliasedImport = "aliased_import",
    ArgumentList = "argument_list",
    AsPattern = "as_pattern",
    AsPatternTarget = "as_pattern_target",
    Assignment = "assignment",
    Attribute = "attribute",
    AugmentedAssignment = "augmented_assignment",
    BinaryOperator = "binary_operator",
    Block = "block",
    Call = "call",
    ClassDefinition = "class_definition",
    Comment = "comment",
    ConditionalExpression = "conditional_expression",
    DecoratedDefinition = "decorated_definition",
    Decorator = "decorator",
    DefaultParameter = "default_parameter",
    DeleteStatement = "delete_statement",
    DictionarySplat = "dictionary_splat",
    DictionarySplatPattern = "dictionary_splat_pattern",
    DottedName = "dotted_name",
    Error = "ERROR",
    ExceptClause = "except_clause",
    ExecStatement = "exec_statement",
    ExpressionStatement = "expression_statement",
    Float = "float",
    ForInClause = "for_in_clause",
    ForStatement = "for_statement",
    FunctionDefinition = "function_definition",
    GlobalStatement = "global_statement",
    Identifier = "identifier",
    IfStatement = "if_statement",
    ImportFromStatement = "import_from_statement",
    ImportStatement = "import_statement",
    Integer = "integer",
    KeywordArgument = "keyword_argument",
    Lambda = "lambda",
    LambdaParameters = "lambda_parameters",
    List = "list",
    ListPattern = "list_pattern",
    ListSplat = "list_splat",
    ListSplatPattern = "list_splat_pattern",
    Module = "module",
    NamedExpression = "named_expression",
    None = "none",
    NonlocalStatement = "nonlocal_statement",
    Parameters = "parameters",
    ParenthesizedExpression = "parenthesized_expression",
    PatternList = "pattern_list",
    PrintStatement = "print_statement",
    RelativeImport = "relative_import",
    Slice = "slice",
    String = "string",
    Subscript = "subscript",
    TryStatement = "try_statement",
    Tuple = "tuple",
    TuplePattern = "tuple_pattern",
    TypedDefaultParameter = "typed_default_parameter",
    TypedParameter = "typed_parameter",
    UnaryOperator = "unary_operator",
    WhileStatement = "while_statement",
    WildcardImport = "wildcard_import",
    WithStatement = "with_statement",
}
