//! `ecorche wrinkles`: the pattern of wrinkles as pictures, and how much the skin folds in every frame.

use super::{bind, make_folder};
use crate::arguments::WrinkleArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::deform::{Playback, Workspace};
use ecorche::output::file::PendingFiles;
use ecorche::output::wrinkle_maps::{encode_map, npy_head};
use ecorche::recipe::{Recipe, WrinkleUse};
use ecorche::surface::wrinkles::WrinkleMap;
use serde::Serialize;

/// What a shader needs besides the pictures.
#[derive(Serialize)]
struct Description<'a> {
    version: u32,
    clip: &'a str,
    fps: f32,
    first_frame: usize,
    frames: usize,
    /// Metres of a blue of 1.
    longest_wavelength: f32,
    sharpness: f32,
    meshes: Vec<MeshDescription<'a>>,
}

#[derive(Serialize)]
struct MeshDescription<'a> {
    name: &'a str,
    vertices: usize,
    /// One per set of stripes.
    maps: Vec<String>,
    /// NumPy array of frames, vertices of the file and sets of stripes.
    folds: String,
}

/// Writes maps, tables and their description, all or none.
pub fn run(arguments: &WrinkleArguments, console: &Console) -> Result<Outcome, Failure> {
    let mut recipe = arguments.rig.recipe(&arguments.deformation.implicit);
    if recipe.wrinkles == WrinkleUse::Anatomy {
        recipe.wrinkles = WrinkleUse::On;
    }
    let ingredients = source::read(&recipe, console)?;
    let plan = source::one_plan(&ingredients, &arguments.sampling, &arguments.rig.file, console)?;
    let method = arguments.deformation.method(&ingredients)?;
    let settings = ingredients.settings(Some(method));
    let body = bind(&ingredients, settings, source::user_cache(&arguments.cache).as_ref(), console)?;
    let maps = body.wrinkle_maps(arguments.size)?;
    // The file's own vertices come first on a mesh that was subdivided.
    let own: Vec<usize> = if recipe.subdivide == 0 {
        ingredients.character.meshes.iter().map(|mesh| mesh.positions.len()).collect()
    } else {
        let coarse = Recipe { subdivide: 0, ..recipe }.read()?;
        coarse.character.meshes.iter().map(|mesh| mesh.positions.len()).collect()
    };

    let longest = maps.iter().flat_map(|map| &map.texels).map(|texel| texel.wavelength).fold(0.0, f32::max);
    let sets = 1 + maps.iter().map(|map| map.pattern).max().unwrap_or(0);
    let mut drawn: Vec<usize> = maps.iter().map(|map| map.mesh).collect();
    drawn.sort_unstable();
    drawn.dedup();
    let folder = &arguments.output;
    make_folder(folder)?;
    let picture = |map: &WrinkleMap| format!("mesh{}_{}.png", map.mesh, map.pattern);
    let table = |mesh: usize| format!("mesh{mesh}.npy");
    let mut files = PendingFiles::create(&folder.join("wrinkles.json"))?;
    for map in &maps {
        files.add(&folder.join(picture(map)), &encode_map(map, longest)?)?;
    }
    let frames = plan.frames.clone().count();
    let mut tables = Vec::new();
    for &mesh in &drawn {
        tables.push(files.add(&folder.join(table(mesh)), &npy_head([frames, own[mesh], sets]))?);
    }
    let mut playback = Playback::new(&body, &plan);
    let mut workspace = Workspace::default();
    let bar = console.progress("frames", frames);
    for number in plan.frames.clone() {
        playback.frame(number, &mut workspace);
        for (&mesh, &file) in drawn.iter().zip(&tables) {
            let folds = body.folds(mesh, &workspace);
            let numbers = folds[..own[mesh]].iter().flat_map(|fold| &fold[..sets]);
            let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
            files.append(file, &bytes)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let description = Description {
        version: 1,
        clip: plan.clip.map_or("rest pose", |clip| clip.name.as_str()),
        fps: plan.fps,
        first_frame: *plan.frames.start(),
        frames,
        longest_wavelength: longest,
        sharpness: body.wrinkles().map_or(0.0, |wrinkles| wrinkles.sharpness),
        meshes: drawn
            .iter()
            .map(|&mesh| MeshDescription {
                name: &ingredients.character.meshes[mesh].name,
                vertices: own[mesh],
                maps: maps.iter().filter(|map| map.mesh == mesh).map(picture).collect(),
                folds: table(mesh),
            })
            .collect(),
    };
    files.add(&folder.join("wrinkles.json"), &serde_json::to_vec_pretty(&description)?)?;
    for path in files.commit()? {
        console.print_path(&path)?;
    }
    Ok(Outcome::Done)
}
